"""`qrspi explain`: why a run stands where it stands, with the files that were read for it."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.answers import explain
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("explain")
@arguments.run
@click.option("--files", is_flag=True, help="On a screen too: each file, not a count per folder.")
def command(session: Session, run: str | None, files: bool) -> None:
    """Why a run stands where it stands: each reason, and each file that was looked at for it."""
    explain.show(session, run, files=files)
