"""The engine's audit trail, read back. It explains what was changed; nothing is decided on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from qrspi.core.model import Problem

FILE = ".qrspi/audit.jsonl"


class Touched(NamedTuple):
    """A file that was changed. A hash is None where there was no file, or is none any more."""

    path: str
    before: str | None = None  # sha256
    after: str | None = None
    moved_to: str = ""


class Line(NamedTuple):
    """One thing that the engine did."""

    time: str
    actor: str
    event: str
    step: str = ""
    round: int | None = None
    files: tuple[Touched, ...] = ()
    outcome: str = ""
    notes: tuple[str, ...] = ()


def render(line: Line) -> dict[str, Any]:
    return {
        "time": line.time,
        "actor": line.actor,
        "event": line.event,
        "step": line.step,
        "round": line.round,
        "files": [_rendered(touched) for touched in line.files],
        "outcome": line.outcome,
        "notes": list(line.notes),
    }


def _rendered(touched: Touched) -> dict[str, str | None]:
    shown = {"path": touched.path, "before": touched.before, "after": touched.after}
    return {**shown, "moved_to": touched.moved_to} if touched.moved_to else shown


def read(record: Mapping[str, Any], number: int) -> Line | Problem:
    """What a line of the trail says; its number counts from the end when it is negative."""
    for key in ("time", "actor", "event"):
        if not isinstance(record.get(key), str):
            return _foreign(number, key)
    number_of_round = record.get("round")
    return Line(
        time=record["time"],
        actor=record["actor"],
        event=record["event"],
        step=_text(record.get("step")),
        round=number_of_round if type(number_of_round) is int else None,
        files=tuple(_touched(item) for item in _list(record.get("files"), dict)),
        outcome=_text(record.get("outcome")),
        notes=tuple(_list(record.get("notes"), str)),
    )


def _foreign(number: int, key: str) -> Problem:
    where = f"line {number}" if number > 0 else f"line {-number} from the end"
    return Problem(
        "foreign-line",
        f"{FILE} {where} has no '{key}': it is no line of the trail, the other lines are",
        file=FILE,
        field=key,
        expected="a line that qrspi wrote",
    )


def _touched(item: Mapping[str, Any]) -> Touched:
    before, after = (_text(item.get(key)) or None for key in ("before", "after"))
    return Touched(_text(item.get("path")), before, after, _text(item.get("moved_to")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any, kind: type) -> list[Any]:
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []
