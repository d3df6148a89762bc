"""The audit trail's lines, both ways."""

from __future__ import annotations

import pytest

from qrspi.core.model import Problem
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import MemoryTree
from tests import runs

LINE = Line(
    "2026-05-17T09:30:00Z",
    "cli",
    "assemble",
    "goals",
    1,
    (Touched("a.md", None, "b" * 64), Touched("tasks", None, None, "phases/phase-01/tasks")),
    "done",
    ("a note",),
)


@pytest.mark.rule("AUD-01")
def test_a_line_is_read_back_as_it_was_written() -> None:
    assert audit_trail.read(audit_trail.render(LINE), 1) == LINE


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"round": "2"}, LINE._replace(round=None)),
        ({"round": True}, LINE._replace(round=None)),
        ({"step": None, "outcome": 3}, LINE._replace(step="", outcome="")),
        ({"files": "a.md"}, LINE._replace(files=())),
        ({"files": ["a.md", {"path": 1, "before": []}]}, LINE._replace(files=(Touched(""),))),
        ({"notes": ["one", 2, None]}, LINE._replace(notes=("one",))),
    ],
)
def test_what_is_no_field_of_a_line_is_left_out(change: dict[str, object], expected: Line) -> None:
    assert audit_trail.read(audit_trail.render(LINE) | change, 1) == expected


@pytest.mark.parametrize("key", ["time", "actor", "event"])
@pytest.mark.parametrize(("number", "where"), [(3, "line 3"), (-3, "line 3 from the end")])
def test_a_line_of_somebody_else_is_told(key: str, number: int, where: str) -> None:
    found = audit_trail.read(audit_trail.render(LINE) | {key: None}, number)
    assert found == Problem(
        "foreign-line",
        f".qrspi/audit.jsonl {where} has no '{key}': it is not a line of the trail, the other "
        "lines are",
        file=".qrspi/audit.jsonl",
        field=key,
        expected="a line that qrspi wrote",
    )


@pytest.mark.rule("SPE-01")
@pytest.mark.parametrize("before", [0, audit_trail.NEAR, audit_trail.LIMIT])
def test_a_round_that_was_opened_lately_is_known_however_long_the_trail_is(before: int) -> None:
    path, manifest = "reviews/goals/round-01/.dispatch-manifest.json", runs.manifest()
    old = b'{"time": "2026-01-01T00:00:00Z", "actor": "cli", "event": "x"}\n'
    data = old * (before // len(old) + 1) + runs.opening(path, manifest)
    read = manifests.read(manifest, path)
    assert isinstance(read, Manifest)
    opened = manifests.digest(read)
    tree = MemoryTree({audit_trail.FILE: data})
    assert audit_trail.wrote(tree, path, [opened])
    assert not audit_trail.wrote(tree, path, ["b" * 64])
