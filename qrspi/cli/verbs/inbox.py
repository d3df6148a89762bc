"""`qrspi inbox`: everything that waits for a person."""

from __future__ import annotations

import click

from qrspi.cli.answers import inbox
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("inbox")
@click.option("--commands", is_flag=True, help="Only the commands, one a line, to edit and run.")
def command(session: Session, commands: bool) -> None:
    """Everything that waits for a person, over all runs, each with the command that goes on.

    `qrspi inbox --commands > answers.sh` gives a file to edit: answer all of it in one go.
    """
    inbox.show(session, commands)
