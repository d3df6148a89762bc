"""Plain tables for a terminal: columns as wide as their cells, the last one cut to fit."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.render.escape import one_line


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 80) -> list[str]:
    cells = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return [_fitted(_row(row, widths), width) for row in cells]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()


def _fitted(line: str, width: int) -> str:
    return line if len(line) <= width else line[: max(width - 1, 1)] + "…"
