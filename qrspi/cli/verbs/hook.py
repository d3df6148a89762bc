"""`qrspi hook`: what a host asks before a tool, at a stop and at a start."""

from __future__ import annotations

import click

from qrspi.cli import plain_hook
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("hook")
@click.argument("event", metavar="pre-tool|stop|session-start")
@click.option("--host", required=True, metavar="|".join(plain_hook.HOSTS), help="Who asks.")
def command(session: Session, event: str, host: str) -> None:
    """Answer a hook of Claude Code, Codex or Copilot; what it is about comes on stdin, as JSON.

    `qrspi install` puts it into the host's settings. It refuses what would break the order of a
    run, lets everything else pass in silence, and always ends with exit status 0.
    """
    plain_hook.reply([event, "--host", host])
