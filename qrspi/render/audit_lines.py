"""The audit trail as documents and as a table."""

from __future__ import annotations

from typing import Any

from qrspi.core.model import Problem
from qrspi.core.records import audit_trail as trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.render import problems
from qrspi.render.columns import cells_of, fitted
from qrspi.render.safe_text import one_line

SCHEMA = "qrspi/log/v1"

# Fixed, since a trail that is followed has no last row: longer cells push the others along.
_COLUMNS = (("TIME", 20), ("WHO", 8), ("WHAT", 14), ("STEP", 11), ("ROUND", 5), ("FILES", 0))
_SHORT = 12


def document(run: str, item: Line | Problem) -> dict[str, Any]:
    if isinstance(item, Problem):
        return {"schema": SCHEMA, "run": run, "kind": "warning", **problems.warning(item)}
    return {"schema": SCHEMA, "run": run, "kind": "entry", **trail.render(item)}


def head(width: int) -> str:
    return _row(tuple(name for name, _ in _COLUMNS), width)


def lines(line: Line, width: int, *, files: bool = False) -> list[str]:
    """A row; with `files`, below it each file with what it was and is, and what was said."""
    number = "-" if line.round is None else str(line.round)
    listed = str(len(line.files)) if files else ", ".join(item.path for item in line.files)
    cells = (line.time, line.actor, _event(line), line.step or "-", number, listed or "-")
    row = _row(tuple(map(one_line, cells)), width)
    if not files:
        return [row]
    said = (() if line.outcome in ("done", "") else (line.outcome,)) + line.notes
    return [row, *map(_file, line.files), *(f"  {one_line(text)}" for text in said)]


def _event(line: Line) -> str:
    """A thing that was not finished says so in a word; `--json` and `--files` say why."""
    word = line.outcome.partition(":")[0]
    return line.event if word in ("done", "") else f"{line.event} ({word})"


def _row(cells: tuple[str, ...], width: int) -> str:
    sizes = (size for _, size in _COLUMNS)
    padded = (cell + " " * (size - cells_of(cell)) for cell, size in zip(cells, sizes, strict=True))
    return fitted("  ".join(padded).rstrip(), width)


def _file(touched: Touched) -> str:
    path = one_line(touched.path)
    if touched.moved_to:
        return f"  {path} -> {one_line(touched.moved_to)}"
    before, after = (one_line(sha[:_SHORT]) if sha else "-" for sha in touched[1:3])
    return f"  {before:<{_SHORT}} {after:<{_SHORT}} {path}"
