"""`qrspi reopen`: take a closed run up again."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.records.closed_run import FILE
from qrspi.handlers.runs import close_run as closing
from qrspi.render import run_page as states
from qrspi.render.safe_text import one_line
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace


@click.command("reopen", cls=Verb)
@click.argument("run", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be removed; change nothing.")
@click.pass_obj
def command(session: Session, run: str | None, dry_run: bool) -> None:
    """Take a closed run up again where it was left: closed.md is removed."""
    found = session.run(run)
    closing.reopen(Workspace(found.path), closing.Options(session.lock_timeout, dry_run))
    state = derive(DiskTree(found.path), session.run_path(found))
    document = {
        "schema": "qrspi/reopen/v1",
        "run": found.name,
        "files": [FILE],
        "dry_run": dry_run,
        "next": states.next_document(state.next),
    }
    verb = "Would reopen" if dry_run else "Reopened"
    lines = [f"{verb} {one_line(found.name)}: {FILE} removed", "", *states.next_lines(state.next)]
    session.answer(document, lines)
