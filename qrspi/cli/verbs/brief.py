"""`qrspi brief`: one page that puts somebody in the picture."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import brief
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("brief")
@arguments.run
@click.option(
    "--chars",
    type=click.IntRange(min=200),
    default=brief.CHARS,
    show_default=True,
    metavar="N",
    help="The most the page may have; whole parts are left out to fit.",
)
def command(session: Session, run: str | None, chars: int) -> None:
    """One deterministic page for a cold agent or person: where the run stands, open findings,
    decisions so far, what to do next and with which files."""
    brief.show(session, run, chars)
