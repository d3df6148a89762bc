"""`qrspi close`: set a run aside, with the reason."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.records.closed_run import FILE
from qrspi.handlers.runs import close_run as closing
from qrspi.render.safe_text import one_line
from qrspi.world.runs.workspace import Workspace


@click.command("close", cls=Verb)
@click.argument("run", required=False)
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept in closed.md.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; change nothing.")
@click.pass_obj
def command(session: Session, run: str | None, reason: str, dry_run: bool) -> None:
    """Set a run aside: it leaves `status` and `inbox`, and all of its files stay."""
    if not reason.strip():
        raise click.BadParameter("the reason is empty: say why in a few words.")
    found = session.run(run)
    options = closing.Options(session.lock_timeout, dry_run)
    when = closing.close(Workspace(found.path), reason, options)
    document = {
        "schema": "qrspi/close/v1",
        "run": found.name,
        "closed": when,
        "reason": reason.strip(),
        "files": [FILE],
        "dry_run": dry_run,
    }
    verb = "Would close" if dry_run else "Closed"
    name = one_line(found.name)
    session.answer(
        document, [f"{verb} {name}: {FILE}", f"`qrspi reopen {name}` takes it up again."]
    )
