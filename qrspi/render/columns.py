"""Plain tables for a terminal: columns as wide as their cells, the last one cut to fit."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.render.safe_text import one_line


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 80) -> list[str]:
    cells = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(cells_of(row[at]) for row in cells) for at in range(len(head))]
    return [fitted(_row(row, widths), width) for row in cells]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (size - cells_of(cell)) for cell, size in zip(row, widths, strict=True))
    return "  ".join(padded).rstrip()


def fitted(line: str, width: int) -> str:
    if cells_of(line) <= width:
        return line
    kept = line[: max(width - 1, 1)]
    while cells_of(kept) >= width > 1:
        kept = kept[:-1]
    return kept + "…"


def cells_of(text: str) -> int:
    """How many columns of a terminal a text takes: letters of some scripts take two, marks none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)
