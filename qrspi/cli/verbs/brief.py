"""`qrspi brief`: one page that puts somebody in the picture."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.derivation import brief
from qrspi.core.derivation.derive import survey
from qrspi.render.safe_text import visible
from qrspi.world.files.run_tree import DiskTree


@click.command("brief", cls=Verb)
@click.argument("run", required=False)
@click.option(
    "--chars",
    type=click.IntRange(min=200),
    default=4000,
    show_default=True,
    metavar="N",
    help="The most the page may have; whole parts are left out to fit.",
)
@click.pass_obj
def command(session: Session, run: str | None, chars: int) -> None:
    """One deterministic page for a cold agent or person: where the run stands, open findings,
    decisions so far, what to do next and with which files."""
    found = session.run(run)
    page = brief.page(survey(DiskTree(found.path), session.run_path(found), thorough=True), chars)
    document = {
        "schema": "qrspi/brief/v1",
        "run": found.name,
        "text": page.text,
        "left_out": list(page.left_out),
    }
    session.answer(document, [visible(page.text).rstrip("\n")])
