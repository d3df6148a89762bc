"""The record of what people decided about steps: approvals.jsonl, one object a line.

A record names the step, the hash its body had and its highest round. What it reset
besides (a rewind resets several steps) stands in `resets`. The newest record of a step
tells a rewound step from a command that was killed half way.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from qrspi.core.tree import Fault

FILE = "approvals.jsonl"
LIMIT = 64 * 1024 * 1024
RESETTING = ("reject", "unapprove", "rewind", "phase")


class Mark(NamedTuple):
    """One step as a record saw it."""

    step: str
    body_hash: str
    round: int


class Record(NamedTuple):
    event: str  # approve, reject, unapprove, rewind, phase
    step: str
    body_hash: str
    round: int
    who: str = ""
    when: str = ""
    surface: str = ""
    resets: tuple[Mark, ...] = ()
    note: str = ""

    def mark(self, step: str) -> Mark | None:
        """What this record says of `step`, if anything."""
        if step == self.step:
            return Mark(self.step, self.body_hash, self.round)
        return next((mark for mark in self.resets if mark.step == step), None)


class Entry(NamedTuple):
    """A step's newest record, as far as it concerns that step."""

    event: str
    body_hash: str
    round: int
    when: str = ""
    who: str = ""


def render(record: Record) -> bytes:
    import json

    document: dict[str, Any] = record._asdict()
    document["resets"] = [mark._asdict() for mark in record.resets]
    if not record.resets:
        del document["resets"]
    if not record.note:
        del document["note"]
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def read(content: bytes | Fault) -> tuple[Record, ...]:
    """Every well-formed record in order. A torn or foreign line says nothing."""
    if isinstance(content, Fault):
        return ()
    return tuple(record for line in content.split(b"\n") if (record := _line(line)))


def _line(line: bytes) -> Record | None:
    import json  # 2 ms of a cold start, which a run without records need not pay

    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    mark = _mark(document)
    if mark is None or not isinstance(document.get("event"), str):
        return None
    resets = document.get("resets")
    marks = (_mark(item) for item in resets) if isinstance(resets, list) else ()
    return Record(
        document["event"],
        *mark,
        who=_text(document, "who"),
        when=_text(document, "when"),
        surface=_text(document, "surface"),
        resets=tuple(item for item in marks if item),
        note=_text(document, "note"),
    )


def _mark(item: Any) -> Mark | None:
    if not isinstance(item, dict):
        return None
    step, body_hash, number = item.get("step"), item.get("body_hash"), item.get("round")
    if isinstance(step, str) and isinstance(body_hash, str) and isinstance(number, int):
        return Mark(step, body_hash, number)
    return None


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""


def newest(records: Iterable[Record], step: str) -> Entry | None:
    found = None
    for record in records:
        if mark := record.mark(step):
            found = Entry(record.event, mark.body_hash, mark.round, record.when, record.who)
    return found


def loop_base(records: Iterable[Record], step: str) -> int:
    """The highest round before the present review loop; rounds up to it do not count."""
    base = 0
    for record in records:
        if record.event in RESETTING and (mark := record.mark(step)):
            base = mark.round
    return base
