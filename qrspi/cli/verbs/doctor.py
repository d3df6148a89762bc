"""`qrspi doctor`: what is odd about this project and machine."""

from __future__ import annotations

from typing import Literal

import click

from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.handlers import hosts
from qrspi.handlers.runs import doctor
from qrspi.handlers.runs.doctor import Sign
from qrspi.render.terminal import Paint, one_line, painter

_STYLES = {"ok": "green", "note": "yellow", "problem": "red"}


@verb("doctor")
def command(session: Session) -> None:
    """Look at everything the engine depends on, and say what is odd. Nothing is changed.

    Exit status 3 when something keeps a run from going on.
    """
    root = session.root_if_any
    signs = doctor.examine(root)
    for said in hosts.look(root.project if root else None):
        level: Literal["ok", "note"] = "ok" if said.is_fine else "note"
        signs.append(Sign(level, "hosts", said.message, said.hint))
    bad = any(sign.level == "problem" for sign in signs)
    document = {
        "schema": "qrspi/doctor/v1",
        "ok": not bad,
        "findings": [sign._asdict() for sign in signs],
    }
    session.answer(document, _lines(signs, painter(session.color)))
    if bad:
        raise click.exceptions.Exit(3)


def _lines(signs: list[Sign], paint: Paint) -> list[str]:
    lines = []
    for sign in signs:
        level = paint(f"{sign.level:<8}", _STYLES[sign.level])
        lines.append(f"{level}{one_line(sign.about)}: {one_line(sign.message)}")
        if sign.hint:
            lines.append(f"{'':<8}{one_line(sign.hint)}")
    return lines
