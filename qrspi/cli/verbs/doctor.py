"""`qrspi doctor`: what is odd about this project and machine."""

from __future__ import annotations

import click

from qrspi.cli.answers import doctor
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("doctor")
def command(session: Session) -> None:
    """Look at everything the engine depends on, and say what is odd. Nothing is changed.

    Exit status 3 when something keeps a run from going on.
    """
    if status := doctor.show(session):
        raise click.exceptions.Exit(status)
