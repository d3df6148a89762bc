"""`qrspi brief`: one page that puts somebody in the picture."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.derivation import brief
from qrspi.core.derivation.derive import survey
from qrspi.render.terminal import visible
from qrspi.world.runs.committed_tree import CommittedTree


@verb("brief")
@arguments.run
@click.option(
    "--chars",
    type=click.IntRange(min=200),
    default=4000,
    show_default=True,
    metavar="N",
    help="The most the page may have; whole parts are left out to fit.",
)
def command(session: Session, run: str | None, chars: int) -> None:
    """One deterministic page for a cold agent or person: where the run stands, open findings,
    decisions so far, what to do next and with which files."""
    found = session.run(run)
    looked = survey(CommittedTree(found.path), session.run_path(found), thorough=True)
    page = brief.page(looked, chars)
    document = {
        "schema": "qrspi/brief/v1",
        "run": found.name,
        "text": page.text,
        "left_out": list(page.left_out),
    }
    session.answer(document, [visible(page.text).rstrip("\n")])
