"""Rows of the trail."""

from __future__ import annotations

import pytest

from qrspi.core.records.audit_trail import Line
from qrspi.render.history import audit_lines


@pytest.mark.rule("AUD-01")
@pytest.mark.parametrize(
    ("event", "number", "shown"),
    [
        ("run-tests", 2, "run 2"),
        ("rerun-tests", 1, "run 1"),
        ("prepare-round", 2, "2"),
        ("run-tests", None, "-"),
    ],
)
def test_runs_of_tests_are_told_from_rounds(event: str, number: int | None, shown: str) -> None:
    line = Line("2026-05-17T09:30:00Z", "cli", event, "test", number, ())
    assert audit_lines.lines(line, 200)[0].endswith(f"  test         {shown:<5}  -")
