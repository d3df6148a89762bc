"""The audit trail as documents and as a table."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Problem
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.text.shortened import few
from qrspi.render import deeds, problems
from qrspi.render.terminal import cells_of, folded, one_line, table_row

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "qrspi/log/v1"

# Fixed widths, since a followed trail has no last row. A longer cell takes its room from the next.
_COLUMNS = (("TIME", 20), ("WHO", 14), ("WHAT", 14), ("STEP", 11), ("ROUND", 5), ("FILES", 0))
_SIZES = tuple(size for _, size in _COLUMNS)
_ANY = 10**6  # columns: a row as long as it is
_SHORT = 12
_FEW = 3  # files that are named below a row without room for them


def document(run: str, item: Line | Problem) -> dict[str, Any]:
    if isinstance(item, Problem):
        return {"schema": SCHEMA, "run": run, "kind": "warning", **problems.warning(item)}
    return {"schema": SCHEMA, "run": run, "kind": "entry", **audit_trail.render(item)}


def head(width: int) -> str:
    return table_row([name for name, _ in _COLUMNS], _SIZES, width)


def lines(line: Line, width: int, *, files: bool = False) -> list[str]:
    """A row; with `files`, below it each file with what it was and is, and what was said."""
    cells = (line.time, _who(line), _event(line), line.step or "-", _number(line))
    begun = tuple(map(one_line, cells))
    if not files:
        return _with_files(begun, line.files, width)
    row = _row((*begun, str(len(line.files))), width)
    texts = (() if line.outcome in ("done", "") else (line.outcome,)) + line.notes
    return [row, *map(_file, line.files), *(f"  {one_line(text)}" for text in texts)]


_OF_RUNS = ("run-tests", "rerun-tests", "draft-test-results", "test-report")


def _number(line: Line) -> str:
    """Runs of the tests are counted apart from the rounds in which they are reviewed."""
    if line.round is None:
        return "-"
    return f"run {line.round}" if line.event in _OF_RUNS else str(line.round)


def _row(cells: Sequence[str], width: int) -> str:
    sizes, over = [], 0
    for cell, size in zip(cells, _SIZES, strict=True):
        sizes.append(max(size - over, cells_of(cell)))
        over += sizes[-1] - size
    return table_row(cells, sizes, width)


def _with_files(begun: tuple[str, ...], files: tuple[Touched, ...], width: int) -> list[str]:
    """Files stand below a row that has no room for them: cut off, they would say nothing."""
    names = [one_line(path) for path in {item.path: None for item in files}]  # one may be twice
    row = _row((*begun, ", ".join(names) or "-"), _ANY)
    if cells_of(row) <= width:
        return [row]
    below = folded((f"    {few(names, _FEW)}",), width) if names else ()
    return [_row((*begun, ""), width), *below]


def _who(line: Line) -> str:
    """The person who decided it. What follows by itself is the engine's, whoever called it."""
    engine = "qrspi" if line.actor in ("cli", "web", "mcp") else line.actor
    name = line.who.partition(" <")[0] or engine
    most = dict(_COLUMNS)["WHO"]
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _event(line: Line) -> str:
    """One word says that something was not finished; `--json` and `--files` say why."""
    word = line.outcome.partition(":")[0]
    event = deeds.word(line.event)
    return event if word in ("done", "") else f"{event} ({word})"


def _file(touched: Touched) -> str:
    path = one_line(touched.path)
    if touched.moved_to:
        return f"  {path} -> {one_line(touched.moved_to)}"
    before, after = (one_line(sha[:_SHORT]) if sha else "-" for sha in touched[1:3])
    return f"  {before:<{_SHORT}} {after:<{_SHORT}} {path}"
