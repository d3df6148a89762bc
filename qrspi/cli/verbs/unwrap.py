"""`qrspi unwrap`: the bytes that `wrap` was given."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli.app import Verb
from qrspi.cli.raw_output import as_text, pour
from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.text import untrusted_markers as untrusted


@click.command("unwrap", cls=Verb)
@click.argument("file", type=click.File("rb"))
@click.pass_obj
def command(session: Session, file: BinaryIO) -> None:
    """Print what stands between the markers in FILE (- is stdin), byte for byte.

    Anything that `qrspi wrap` would not have written is refused.
    """
    found = untrusted.unwrap(file.read())
    if isinstance(found, Problem):
        raise Refusal(found._replace(file=file.name))
    if session.json:
        session.emit({"schema": "qrspi/unwrap/v1", **as_text(found)})
    else:
        pour(found)
