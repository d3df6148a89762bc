"""In which order a task's reviewers are sent: spec, then correctness, then thoroughness."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core import reviewers as matrix

FIRST = ("spec",)


def tier(tag: str) -> int:
    """Reviewers that only a deep review has come last; whoever else was added, in between."""
    name = tag.rpartition("-")[0]
    table = matrix.shipped()
    if name in FIRST:
        return 0
    return 2 if name in table.task["deep"] and name not in table.task["quick"] else 1


def due(silent: Iterable[str]) -> tuple[str, ...]:
    """Of those who have written nothing yet, the ones to send now."""
    tags = tuple(silent)
    lowest = min(map(tier, tags), default=0)
    return tuple(tag for tag in tags if tier(tag) == lowest)
