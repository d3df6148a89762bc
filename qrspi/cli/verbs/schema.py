"""`qrspi schema`: the JSON Schemas of files and of --json output."""

from __future__ import annotations

import click

from qrspi.cli.answers import schema
from qrspi.cli.app import verb
from qrspi.cli.session import Session


@verb("schema")
@click.argument("name", required=False)
def command(session: Session, name: str | None) -> None:
    """List the schemas, or print the one named NAME."""
    schema.show(session, name)
