"""Which tasks may be handed over, from lines and records alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.quality import quality_gate, quality_records
from qrspi.core.gates.quality.quality_gate import QualityGate
from qrspi.core.gates.quality.quality_records import FILE, QualityRecord
from qrspi.core.tree import MemoryTree
from tests.task_texts import NOW, spec, task

HASH = spec().hash
PASS = f"PASS hash={HASH} @{NOW} v1"
VAGUE = f"NEEDS_REFINEMENT hash={HASH} @{NOW} v1 axes=goal"
FROZEN = f"REJECT hash=00000000 @{NOW} v1 axes=goal suppressed-until=2026-05-24T09:30:00Z"
GIVEN = QualityRecord("verdict", "task-01", NOW, HASH, PASS, "dispatched", "ab")
CLEARED = QualityRecord("clear", "task-01", NOW, who="Ada")
PROCEED = QualityRecord("proceed", "task-01", NOW, HASH, who="Ada")


def tree(data: bytes, *records: QualityRecord) -> MemoryTree:
    lines = b"".join(map(quality_records.render, records))
    return MemoryTree({"tasks/task-01.md": data, **({FILE: lines} if lines else {})})


ROWS = {
    "on record": (task(quality_verdict=PASS), (GIVEN,), ("PASS", None, True)),
    "a claim": (task(quality_verdict=PASS), (), ("UNREVIEWED", "absent", False)),
    "of another task": (
        task(quality_verdict=PASS),
        (GIVEN._replace(task="task-02"),),
        ("UNREVIEWED", "absent", False),
    ),
    "cleared since": (
        task(quality_verdict=PASS),
        (GIVEN, CLEARED),
        ("UNREVIEWED", "absent", False),
    ),
    "given again": (task(quality_verdict=PASS), (GIVEN, CLEARED, GIVEN), ("PASS", None, True)),
    "no verdict": (task(), (), ("UNREVIEWED", "absent", False)),
    "unreadable verdict": (task(quality_verdict="fine"), (), ("UNREVIEWED", "absent", False)),
    "another text": (
        task(quality_verdict=PASS, title="Another"),
        (GIVEN,),
        ("UNREVIEWED", "stale", False),
    ),
    "not a pass": (task(quality_verdict=VAGUE), (), ("NEEDS_REFINEMENT", "not-pass", False)),
    "frozen": (task(quality_verdict=FROZEN), (), ("REJECT", "not-pass", False)),
    "let through": (
        task(quality_verdict=VAGUE),
        (PROCEED,),
        ("NEEDS_REFINEMENT", "not-pass", True),
    ),
    "let through with another text": (
        task(title="Another"),
        (PROCEED,),
        ("UNREVIEWED", "absent", False),
    ),
    "tagged": (task(tags="worthiness:info-only"), (), ("PASS", None, True)),
    "no sections": (b"# Task 01: T\n", (), ("UNREVIEWED", "absent", False)),
    "invalid": (b"---\na: b\n", (), ("UNREVIEWED", "absent", False)),
    "too large": (b"x" * 300_000, (), ("UNREVIEWED", "absent", False)),
}


@pytest.mark.rule("QV-14", "QV-16", "GTD-06", "GTD-13")
@pytest.mark.parametrize(("data", "records", "expected"), ROWS.values(), ids=ROWS.keys())
def test_how_a_task_stands(
    data: bytes, records: tuple[QualityRecord, ...], expected: tuple[str, str | None, bool]
) -> None:
    found = QualityGate(tree(data, *records)).standing("task-01")
    assert (found.verdict, found.debt, found.passes) == expected


@pytest.mark.rule("GTD-03")
@pytest.mark.parametrize("key", ["task-00", "ci-round-01/ci-command"])
def test_repairs_are_exempt(key: str) -> None:
    assert quality_gate.is_exempt(key)
    assert quality_gate.debts(MemoryTree({}), [key]) == ()


def test_what_is_no_record_counts_for_nothing_and_is_said() -> None:
    lines = [b"x", b"[]", b'{"event": "verdict"}', b'{"event": "no", "task": "task-01"}']
    good = quality_records.render(GIVEN)
    found = quality_records.read(MemoryTree({FILE: b"\n".join(lines) + b"\n" + good}))
    assert [one.message for one in found.problems] == [
        f"{FILE} line {number} is not a record of a verdict, and counts for nothing"
        for number in (1, 2, 3, 4)
    ]
    assert found.has("task-01", PASS)


def test_a_record_that_cannot_be_read_lets_nothing_pass() -> None:
    found = quality_records.read(MemoryTree({f"{FILE}/x": b""}))
    assert found.problems[0].message == (
        f"{FILE} cannot be read (it is a directory), expected a regular file: no quality verdict "
        "counts until it is put right"
    )
    assert not found.has("task-01", PASS)


@given(st.binary())
def test_any_bytes_are_records_or_problems(data: bytes) -> None:
    quality_records.read(MemoryTree({FILE: data}))


def test_a_record_is_one_line() -> None:
    assert json.loads(quality_records.render(GIVEN)) == {
        "event": "verdict",
        "task": "task-01",
        "when": NOW,
        "hash": HASH,
        "line": PASS,
        "evidence": "dispatched",
        "reply_sha256": "ab",
    }
