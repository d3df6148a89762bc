"""`qrspi stats`: what a run's rounds amount to."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.history import statistics
from qrspi.handlers import history
from qrspi.render.history import statistics as pages


@verb("stats")
@arguments.run
@click.option("--all", "everything", is_flag=True, help="All runs of the project together.")
def command(session: Session, run: str | None, everything: bool) -> None:
    """How close dropped findings fell to the threshold, rounds to clean, cost, what came back."""
    if run and everything:
        raise click.UsageError("--all means every run: leave out RUN")
    runs = session.runs() if everything else (session.run(run),)
    counted = statistics.count([history.of_run(one.path) for one in runs])
    names = [one.name for one in runs]
    lines = pages.lines(names, counted, draws=session.draws, width=session.width)
    session.answer(pages.document(names, counted), lines)
