"""`qrspi explain`: why a run stands where it stands, with the files that were read for it."""

from __future__ import annotations

from qrspi.cli import arguments
from qrspi.cli.answers import explain
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("explain")
@arguments.run
def command(session: Session, run: str | None) -> None:
    """Why a run stands where it stands: each reason, and each file that was looked at for it."""
    explain.show(session, run)
