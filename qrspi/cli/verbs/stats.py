"""`qrspi stats`: what a run's rounds amount to."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Halt
from qrspi.core.history import statistics
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.handlers.history import past_runs
from qrspi.render.history import statistics as pages
from qrspi.world.runs import locate
from qrspi.world.runs.locate import RunDir


@verb("stats")
@arguments.run
@click.option("--all", "everything", is_flag=True, help="All runs of the project together.")
def command(session: Session, run: str | None, everything: bool) -> None:
    """How close dropped findings fell to the threshold, rounds to clean, cost, what came back."""
    if run and everything:
        raise click.UsageError("--all means every run: leave out RUN")
    runs = _all(session) if everything else (session.run(run),)
    found = statistics.count([past_runs.history(one.path) for one in runs])
    names = [one.name for one in runs]
    lines = pages.lines(names, found, draws=session.draws, width=session.width)
    session.answer(pages.document(names, found), lines)


def _all(session: Session) -> tuple[RunDir, ...]:
    found = locate.list_runs(session.root)
    if isinstance(found, Fault):
        text = f"cannot list {session.root.runs_dir}: {found.reason}"
        raise Halt(Problem("unreadable", text, file=session.root.runs_dir))
    return found
