"""The record of quality verdicts: reviews/plan/quality.jsonl, one object a line.

Anybody can write a verdict into a task file: at a gate it counts only when this record has it too.
The record also has what a person decided: to go on anyway, or to clear a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping

from qrspi.core.hints import Any, Literal, get_args
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import table
from qrspi.core.records.quality_blocks import FILE, LIMIT
from qrspi.core.tree import Fault, Tree

Event = Literal["verdict", "proceed", "clear"]
Evidence = Literal["", "rubric", "dispatched", "handed-in"]


class QualityRecord(NamedTuple):
    event: Event
    task: str
    when: str
    hash: str = ""  # of the text
    line: str = ""  # of a verdict, as the task file has it
    evidence: Evidence = ""
    reply_sha256: str = ""  # of what an agent answered
    block_sha256: str = ""  # of the block of findings that the task file was given
    who: str = ""  # of what a person decided


class QualityRecords(NamedTuple):
    by_task: Mapping[str, tuple[QualityRecord, ...]]
    problems: tuple[Problem, ...] = ()

    def of(self, task: str) -> tuple[QualityRecord, ...]:
        return self.by_task.get(task, ())

    def has(self, task: str, line: str) -> bool:
        return any(one.event == "verdict" and one.line == line for one in self._since_clear(task))

    def let_through(self, task: str, hash: str) -> bool:
        """Whether a person accepted this text."""
        return any(record.event == "proceed" and record.hash == hash for record in self.of(task))

    def last(self, task: str) -> QualityRecord | None:
        verdicts = [record for record in self._since_clear(task) if record.event == "verdict"]
        return verdicts[-1] if verdicts else None

    def _since_clear(self, task: str) -> tuple[QualityRecord, ...]:
        known = self.of(task)
        cleared = [at for at, record in enumerate(known) if record.event == "clear"]
        return known[cleared[-1] + 1 :] if cleared else known


NO_RECORDS = QualityRecords({})


def render(record: QualityRecord) -> bytes:
    document = {key: value for key, value in record._asdict().items() if value}
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def read(tree: Tree) -> QualityRecords:
    """A line that cannot be read counts as no line, so no gate lets anything pass because of it."""
    content = tree.read(FILE, LIMIT)
    if isinstance(content, Fault):
        return NO_RECORDS if content.kind == "absent" else QualityRecords({}, (_unread(content),))
    by_task: dict[str, list[QualityRecord]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        record = _record(line) if line.strip() else None
        if record:
            by_task.setdefault(record.task, []).append(record)
        elif line.strip():
            problems.append(_bad_line(number))
    return QualityRecords({task: tuple(known) for task, known in by_task.items()}, tuple(problems))


_TEXTS = ("task", "when", "hash", "line", "reply_sha256", "block_sha256", "who")


def _record(line: bytes) -> QualityRecord | None:
    document = table(line)
    if document is None:
        return None
    texts: dict[str, Any] = {key: document.get(key, "") for key in _TEXTS}
    event: Any = document.get("event")
    evidence: Any = document.get("evidence", "")
    if not all(isinstance(value, str) for value in texts.values()) or not texts["task"]:
        return None
    if event not in get_args(Event) or evidence not in get_args(Evidence):
        return None
    return QualityRecord(event=event, evidence=evidence, **texts)


def _unread(fault: Fault) -> Problem:
    found = fault.reason
    text = (
        f"{FILE} cannot be read ({found}), expected a regular file: no quality verdict counts "
        "until it is put right"
    )
    return Problem("unreadable", text, FILE, found=found, expected="a regular file")


def _bad_line(number: int) -> Problem:
    text = f"{FILE} line {number} is not a record of a verdict, and counts for nothing"
    return Problem("bad-record", text, FILE, f"line {number}", expected="a record of a verdict")
