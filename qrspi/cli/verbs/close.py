"""`qrspi close`: set a run aside, with the reason."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.pipeline import CLOSED
from qrspi.handlers.runs import close_run
from qrspi.render.terminal import one_line
from qrspi.world.runs.workspace import Workspace


@verb("close")
@arguments.run
@click.option("-m", "--reason", required=True, metavar="TEXT", help="Why; kept in closed.md.")
@arguments.dry_run("what would be written")
def command(session: Session, run: str | None, reason: str, dry_run: bool) -> None:
    """Set a run aside: it leaves `status` and `inbox`, and all of its files stay."""
    if not reason.strip():
        text = "the reason is empty: say why in a few words"
        raise run_words.misuse(text, field="-m", expected="a reason", hint="qrspi close --help")
    run_dir = session.run(run)
    when, commit = close_run.close(Workspace(run_dir.path), reason, session.options(dry_run))
    document = {
        "schema": "qrspi/close/v1",
        "run": run_dir.name,
        "closed": when,
        "reason": reason.strip(),
        "files": [CLOSED],
        "dry_run": dry_run,
    }
    verb = "Would close" if dry_run else "Closed"
    name = one_line(run_dir.name)
    again = [] if dry_run else [f"`qrspi reopen {name}` takes it up again."]
    commit_lines = [f"  committed as {commit[:12]}"] if commit else []
    session.answer(document, [f"{verb} {name}: {CLOSED}", *commit_lines, *again])
