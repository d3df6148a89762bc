"""Markdown pipe tables, as agents write them: aligned or not, with or without outer pipes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

from qrspi.core.named_tuple import NamedTuple


class Line(NamedTuple):
    number: int  # in the file, from 1
    text: str


class Row(NamedTuple):
    number: int  # of its line
    cells: tuple[str, ...]

    def cell(self, place: int) -> str:
        """'' where the row is too short."""
        return self.cells[place] if 0 <= place < len(self.cells) else ""


class Table(NamedTuple):
    columns: tuple[str, ...]  # the header, lower case
    rows: tuple[Row, ...]

    def column(self, names: tuple[str, ...]) -> int:
        """The place of the first column with one of these names; -1 without one."""
        return next((at for at, column in enumerate(self.columns) if column in names), -1)


def plain(cell: str) -> str:
    return " ".join(cell.replace("`", "").replace("**", "").split())


def lines_of(data: bytes) -> tuple[Line, ...]:
    return tuple(map(Line, count(1), data.decode(errors="replace").splitlines()))


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DELIMITER = re.compile(r":?-+:?")
_PIPE = re.compile(r"(?<!\\)\|")


def shown(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines outside fences and comments. A comment begins at the start of a line."""
    fence = ""
    comment = False
    for line in lines:
        text = line.text.strip()
        if comment:
            comment = "-->" not in text
        elif fence:
            fence = "" if text.startswith(fence) and not text.strip(fence[0]) else fence
        elif match := _FENCE.match(line.text):
            fence = match[1]
        elif text.startswith("<!--"):
            comment = "-->" not in text
        else:
            yield line


def tables(lines: Iterable[Line]) -> tuple[Table, ...]:
    return tuple(table for block in _blocks(lines) if (table := _table(block)))


def _blocks(lines: Iterable[Line]) -> Iterator[list[Row]]:
    """Runs of lines that have cells."""
    block: list[Row] = []
    for number, text in shown(lines):
        cells = _cells(text)
        if block and (not cells or number != block[-1].number + 1):
            yield block
            block = []
        if cells:
            block.append(Row(number, cells))
    if block:
        yield block


def _table(block: list[Row]) -> Table | None:
    for at, row in enumerate(block[1:], start=1):
        if all(_DELIMITER.fullmatch(cell) for cell in row.cells):
            header = tuple(" ".join(cell.casefold().split()) for cell in block[at - 1].cells)
            return Table(header, tuple(block[at + 1 :]))
    return None


def _cells(text: str) -> tuple[str, ...]:
    text = text.strip()
    if "|" not in text:
        return ()
    inner = text.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(cell.replace("\\|", "|").strip() for cell in _PIPE.split(inner))
