"""`qrspi wrap`: put untrusted text between markers."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli.app import Verb
from qrspi.cli.raw_output import pour
from qrspi.cli.session import Session
from qrspi.core.text import untrusted_markers as untrusted


@click.command("wrap", cls=Verb)
@click.argument("file", type=click.File("rb"))
@click.option("--id", "name", required=True, metavar="NAME", help="Letters, digits, . _ / and -.")
@click.pass_obj
def command(session: Session, file: BinaryIO, name: str) -> None:
    """Print FILE (- is stdin) between the markers that prompts use for untrusted text.

    Bytes that are no text, or that hold a marker themselves, are encoded as base64.
    """
    wrapped = untrusted.wrap(file.read(), name)
    if session.json:
        encoded = wrapped.partition(b"\n")[0].endswith(b" encoding=base64>>>")
        document = {"schema": "qrspi/wrap/v1", "id": name, "encoded": encoded}
        session.emit({**document, "text": wrapped.decode()})
    else:
        pour(wrapped)
