"""What `doctor` says: what is odd about this project and machine."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.hints import Literal
from qrspi.handlers import hosts
from qrspi.handlers.runs import doctor
from qrspi.handlers.runs.doctor import Sign
from qrspi.render.terminal import Paint, one_line, painter

_STYLES = {"ok": "green", "note": "yellow", "problem": "red"}
KEPT_FROM_GOING_ON = 3  # the exit status


def show(session: Session) -> int:
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
    return KEPT_FROM_GOING_ON if bad else 0


def _lines(signs: list[Sign], paint: Paint) -> list[str]:
    lines = []
    for sign in signs:
        level = paint(f"{sign.level:<8}", _STYLES[sign.level])
        lines.append(f"{level}{one_line(sign.about)}: {one_line(sign.message)}")
        if sign.hint:
            lines.append(f"{'':<8}{one_line(sign.hint)}")
    return lines
