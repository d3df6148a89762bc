"""A problem as a person reads it."""

from __future__ import annotations

import pytest

from qrspi.core.model import Problem
from qrspi.render import problems


@pytest.mark.rule("LIV-29")
@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("it is closed: `qrspi reopen a` opens it", ["it is closed: `qrspi reopen a` opens it"]),
        ("it is closed", ["it is closed", "  qrspi reopen a"]),
        ("try `qrspi reopen a -q`", ["try `qrspi reopen a -q`", "  qrspi reopen a"]),
    ],
)
def test_a_command_is_said_once(message: str, lines: list[str]) -> None:
    assert problems.lines(Problem("closed", message, hint="qrspi reopen a")) == lines
