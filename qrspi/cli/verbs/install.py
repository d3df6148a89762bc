"""`qrspi install`: hooks, MCP server and skill for a host."""

from __future__ import annotations

from qrspi.cli.app import verb
from qrspi.cli.host_command import HostCommand, options
from qrspi.cli.session import Session
from qrspi.handlers import hosts


@verb("install")
@options
def command(session: Session, host: str, user: bool, yes: bool, dry_run: bool) -> None:
    """Put hooks, the MCP server, the skill and a few lines for agents into a host's files.

    Shows each file's difference and asks. Twice is the same as once, and `qrspi uninstall` leaves
    the bytes that were there before.
    """
    asked = HostCommand(session, "install", host, user)
    asked.carry_out(hosts.planned(asked.host, asked.place), yes=yes, dry_run=dry_run)
