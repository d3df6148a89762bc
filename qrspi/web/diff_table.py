"""A unified diff as two columns."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

_HUNK = re.compile(r"@@ -([0-9]+)(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@")
LONGEST = 4000  # rows; a browser takes its time over more


class Row(NamedTuple):
    kind: Literal["same", "changed", "head"]
    before: str | None = None
    after: str | None = None
    old: int | None = None  # the line's number
    new: int | None = None


def rows(diff: str) -> tuple[Row, ...]:
    found: list[Row] = []
    for row in _rows(diff.splitlines()):
        found.append(row)
        if len(found) == LONGEST:
            return (*found, Row("head", "The rest is too long to be shown here."))
    return tuple(found)


def between(before: str, after: str) -> tuple[Row, ...]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return rows("\n".join(lines))


def _rows(lines: Iterable[str]) -> Iterator[Row]:
    old = new = 0
    gone: list[str] = []
    come: list[str] = []
    inside = False
    for line in (*lines, "@@ end"):
        if inside and line[:1] == "-":
            gone.append(line[1:])
            continue
        if inside and line[:1] == "+":
            come.append(line[1:])
            continue
        yield from _paired(gone, come, old, new)
        old, new = old + len(gone), new + len(come)
        gone, come = [], []
        if hunk := _HUNK.match(line):
            old, new, inside = int(hunk[1]), int(hunk[2]), True
            yield Row("head", line)
        elif inside and (line[:1] == " " or not line):
            yield Row("same", line[1:], line[1:], old, new)
            old, new = old + 1, new + 1
        else:
            inside = inside and line.startswith("\\")
            if line.startswith("+++ "):
                yield Row("head", line[4:])


def _paired(gone: list[str], come: list[str], old: int, new: int) -> Iterator[Row]:
    for at in range(max(len(gone), len(come))):
        has_old, has_new = at < len(gone), at < len(come)
        yield Row(
            "changed",
            gone[at] if has_old else None,
            come[at] if has_new else None,
            old + at if has_old else None,
            new + at if has_new else None,
        )
