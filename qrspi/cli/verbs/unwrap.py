"""`qrspi unwrap`: the bytes that `wrap` was given."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.text import untrusted_markers
from qrspi.render.terminal import visible


@verb("unwrap")
@click.argument("file", type=click.File("rb"))
def command(session: Session, file: BinaryIO) -> None:
    """Print what stands between the markers in FILE (- is stdin), byte for byte.

    Anything that `qrspi wrap` would not have written is refused. On a terminal, what a terminal
    would obey is spelt out.
    """
    content = untrusted_markers.unwrap(file.read())
    if isinstance(content, Problem):
        raise Refusal(content._replace(file=file.name))
    if session.json:
        session.emit({"schema": "qrspi/unwrap/v1", **_as_text(content)})
    elif sys.stdout.isatty():
        session.write(visible(content.decode("utf-8", "backslashreplace")))
    else:
        session.write_raw(content)


def _as_text(data: bytes) -> dict[str, str]:
    """For JSON, which has no bytes."""
    try:
        return {"encoding": "utf-8", "content": data.decode()}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"encoding": "base64", "content": b64encode(data).decode()}
