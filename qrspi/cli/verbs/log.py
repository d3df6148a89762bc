"""`qrspi log`: what the engine changed, line by line."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import log
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("log")
@arguments.run
@click.option("--follow", "follows", is_flag=True, help="Stay, and print each line as it comes.")
@click.option("-n", "--lines", "count", type=click.IntRange(min=0), help="How many (20).")
@click.option("--all", "everything", is_flag=True, help="From the first line on.")
@click.option("--files", is_flag=True, help="Each file with its hash before and after.")
def command(
    session: Session,
    run: str | None,
    follows: bool,
    count: int | None,
    everything: bool,
    files: bool,
) -> None:
    """The audit trail: one line for each thing that the engine changed.

    With --json one document a line.
    """
    if everything and count is not None:
        raise click.UsageError("--all and --lines cannot go together")
    log.show(session, run, follows, count, everything, files)
