"""`qrspi uninstall`: what `install` put into a host's files, taken out again."""

from __future__ import annotations

from qrspi.cli.app import verb
from qrspi.cli.host_command import HostCommand, options
from qrspi.cli.session import Session
from qrspi.handlers import hosts


@verb("uninstall")
@options
def command(session: Session, host: str, user: bool, yes: bool, dry_run: bool) -> None:
    """Take out what `qrspi install` put into a host's files, and leave the bytes from before.

    What two hosts share is removed with the last of them.
    """
    asked = HostCommand(session, "uninstall", host, user)
    asked.carry_out(hosts.planned_removal(asked.host, asked.place), yes=yes, dry_run=dry_run)
