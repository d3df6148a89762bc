"""`qrspi wrap`: put untrusted text between markers."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.text import untrusted_markers


@verb("wrap")
@click.argument("file", type=click.File("rb"))
@click.option("--id", "name", required=True, metavar="NAME", help="Letters, digits, . _ / and -.")
def command(session: Session, file: BinaryIO, name: str) -> None:
    """Print FILE (- is stdin) between the markers that prompts use for untrusted text.

    Both markers carry NAME and a hash of what stands between them. Bytes that are no text, or that
    hold a marker themselves, are encoded as base64.
    """
    wrapped = untrusted_markers.wrap(file.read(), name)
    if session.json:
        encoded = wrapped.partition(b"\n")[0].endswith(b" encoding=base64>>>")
        marker = wrapped.partition(b" id=")[2].partition(b">>>")[0].split(b" ")[0].decode()
        document = {"schema": "qrspi/wrap/v1", "id": name, "marker": marker, "encoded": encoded}
        session.emit({**document, "text": wrapped.decode()})
    else:
        session.write_raw(wrapped)
