"""A unified diff as two columns."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Literal

from qrspi.core.named_tuple import NamedTuple

_HUNK = re.compile(r"@@ -([0-9]+)(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST = 4000  # rows; a browser takes its time over more
_WIDEST = 1000  # characters of a line in which words are compared
_ALIKE = 0.4  # lines that have less in common are not worth comparing


class Piece(NamedTuple):
    text: str
    changed: bool = False  # within a line that was changed


Line = tuple[Piece, ...]


class Row(NamedTuple):
    kind: Literal["same", "changed", "head", "place"]
    before: Line | None = None
    after: Line | None = None
    old: int | None = None  # the line's number
    new: int | None = None

    @property
    def old_number(self) -> str:
        """'' beside a line that is new."""
        return "" if self.old is None else str(self.old)

    @property
    def new_number(self) -> str:
        return "" if self.new is None else str(self.new)

    @property
    def is_head(self) -> bool:
        return self.kind == "head"

    @property
    def is_place(self) -> bool:
        return self.kind == "place"

    @property
    def is_same(self) -> bool:
        return self.kind == "same"

    @property
    def left(self) -> tuple[Line, ...]:
        """Nothing, or the one line that was there; a line may be empty."""
        return () if self.before is None else (self.before,)

    @property
    def right(self) -> tuple[Line, ...]:
        return () if self.after is None else (self.after,)


class Table(NamedTuple):
    rows: tuple[Row, ...]
    cut: bool = False  # the rest is too long to be shown

    @property
    def is_new(self) -> bool:
        """Nothing was there before: one column is enough."""
        return all(row.before is None for row in self.rows if row.kind in ("same", "changed"))


def table(diff: str) -> Table:
    rows = tuple(islice(_rows(diff.splitlines()), _LONGEST + 1))
    return Table(rows[:_LONGEST], cut=len(rows) > _LONGEST)


def between(before: str, after: str, name: str = "") -> Table:
    old, new = before.splitlines(), after.splitlines()
    return table("\n".join(difflib.unified_diff(old, new, name, name, lineterm="", n=3)))


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
            yield Row("place", new=new)
        elif inside and (line[:1] == " " or not line):
            same = (Piece(line[1:]),)
            yield Row("same", same, same, old, new)
            old, new = old + 1, new + 1
        else:
            inside = inside and line.startswith("\\")
            if line.startswith("+++ "):
                yield Row("head", after=(Piece(line[4:].removeprefix("b/")),))


def _paired(gone: list[str], come: list[str], old: int, new: int) -> Iterator[Row]:
    for at, (before, after) in enumerate(zip_longest(gone, come)):
        left, right = _compared(before, after)
        old_number = None if before is None else old + at
        new_number = None if after is None else new + at
        yield Row("changed", left, right, old_number, new_number)


def _compared(before: str | None, after: str | None) -> tuple[Line | None, Line | None]:
    """The words that differ, where two lines are nearly the same."""
    if before is None or after is None or max(len(before), len(after)) > _WIDEST:
        return _whole(before), _whole(after)
    words = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return _whole(before), _whole(after)
    left, right = [], []
    for kind, a, b, c, d in matcher.get_opcodes():
        left.append(Piece("".join(words[0][a:b]), kind != "equal"))
        right.append(Piece("".join(words[1][c:d]), kind != "equal"))
    return _said(left), _said(right)


def _whole(line: str | None) -> Line | None:
    return None if line is None else (Piece(line),)


def _said(pieces: list[Piece]) -> Line:
    """Words that were changed side by side are one piece, with what is between them."""
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        between = piece.text.isspace() and 0 < at < len(pieces) - 1
        changed = piece.changed or (between and pieces[at - 1].changed and pieces[at + 1].changed)
        if found and found[-1].changed == changed:
            found[-1] = Piece(found[-1].text + piece.text, changed)
        elif piece.text:
            found.append(Piece(piece.text, changed))
    return tuple(found)
