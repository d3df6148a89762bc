"""`qrspi reopen`: take a closed run up again."""

from __future__ import annotations

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import CLOSED
from qrspi.handlers.runs import close_run
from qrspi.render import run_page
from qrspi.render.terminal import one_line
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.workspace import Workspace


@verb("reopen")
@arguments.run
@arguments.dry_run("what would be removed")
def command(session: Session, run: str | None, dry_run: bool) -> None:
    """Take a closed run up again where it was left: closed.md is removed."""
    run_dir = session.run(run)
    commit = close_run.reopen(Workspace(run_dir.path), session.options(dry_run))
    state = derive(CommittedTree(run_dir.path), session.run_path(run_dir))
    document = {
        "schema": "qrspi/reopen/v1",
        "run": run_dir.name,
        "files": [CLOSED],
        "dry_run": dry_run,
        "next": run_page.next_document(state.next),
    }
    verb = "Would reopen" if dry_run else "Reopened"
    head = f"{verb} {one_line(run_dir.name)}: {CLOSED} removed"
    commit_lines = [f"  committed as {commit[:12]}"] if commit else []
    session.answer(document, [head, *commit_lines, "", *run_page.next_lines(state.next)])
