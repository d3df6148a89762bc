"""The tables of parallelization.md: branches and bases, stage commits, dependency analysis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from qrspi.core.artifacts import task_file
from qrspi.core.filenames import STAGE, TASK, task_named
from qrspi.core.hints import Literal
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import branch_names as branches
from qrspi.core.text import headings
from qrspi.core.text.tables import Line, Row, plain, tables

FILE = "parallelization.md"
BASES = "'feature branch tip', 'task-NN tip' or 'stage-after-W<N>'"


class Base(NamedTuple):
    kind: Literal["feature", "task", "stage"]
    name: str = ""  # of the task or the stage


class Branch(NamedTuple):
    task: str
    name: str  # empty: the usual name
    base: Base
    line: int = 0


class Stage(NamedTuple):
    name: str
    branch: str
    parts: tuple[str, ...]  # tasks and stages, in the order they are merged
    line: int = 0


class Needs(NamedTuple):
    task: str
    dependencies: tuple[str, ...]
    files: tuple[str, ...]
    line: int = 0
    unread: tuple[str, ...] = ()  # words in place of files


class Plan(NamedTuple):
    branches: tuple[Branch, ...]
    stages: tuple[Stage, ...]
    analysis: tuple[Needs, ...]

    def branch(self, task: str) -> Branch | None:
        return next((branch for branch in self.branches if branch.task == task), None)

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)


def parse(data: bytes) -> tuple[Plan, tuple[Problem, ...]]:
    problems: list[Problem] = []
    sections = _sections(data, problems)
    mapped = (
        *_branches(_rows(sections, _BRANCH_MAP, problems), problems),
        *_branches(_rows(sections, _ADJUSTMENTS, problems), problems),
    )
    stages = tuple(_stages(_rows(sections, _STAGE_COMMITS, problems), problems))
    analysis = tuple(_analysis(_rows(sections, _ANALYSIS, problems), problems))
    return Plan(mapped, stages, analysis), tuple(problems)


class _TableShape(NamedTuple):
    title: str
    columns: tuple[tuple[str, ...], ...]
    required: bool = True


_TIPS = (("task",), ("branch",), ("base",))
_BRANCH_MAP = _TableShape("Branch Map", _TIPS)
_ADJUSTMENTS = _TableShape("Runtime Adjustments", _TIPS, required=False)
_STAGE_COMMITS = _TableShape(
    "Stage Commits", (("stage branch",), ("composition",), ("created before",)), required=False
)
_ANALYSIS = _TableShape(
    "Dependency Analysis",
    (("task",), task_file.NEEDS_COLUMN, ("files", "target files", "key files")),
)
_Sections = Mapping[str, tuple[Line, ...]]


def _sections(data: bytes, problems: list[Problem]) -> _Sections:
    lines = data.decode(errors="replace").split("\n")
    by_title: dict[str, tuple[Line, ...]] = {}
    for span in headings.read(data).spans:
        title = " ".join(span.title.casefold().split())
        if title in by_title and title in _KNOWN:
            text = f"a second '## {span.title}'; expected one"
            problems.append(problem_at(span.start, "section-repeated", text, span.title))
        numbers = range(span.start + 1, span.end + 1)
        by_title[title] = tuple(Line(number, lines[number - 1]) for number in numbers)
    return by_title


_KNOWN = frozenset(
    wanted.title.casefold() for wanted in (_BRANCH_MAP, _ADJUSTMENTS, _STAGE_COMMITS, _ANALYSIS)
)


def problem_at(
    line: int, code: Code, text: str, field: str, found: str = "", expected: str = ""
) -> Problem:
    return Problem(code, f"{FILE}:{line}: {text}", FILE, field, found, expected)


def _rows(sections: _Sections, wanted: _TableShape, problems: list[Problem]) -> Iterator[Row]:
    """With the cells in the wanted order. Each wave may have a table of its own."""
    candidates = tables(sections.get(wanted.title.casefold(), ()))
    unfit: list[Problem] = []
    fit = 0
    for table in candidates:
        places = [table.column(names) for names in wanted.columns]
        if -1 in places:
            unfit.append(_column_missing(wanted, places.index(-1), table.columns))
            continue
        fit += 1
        for row in table.rows:
            yield Row(row.number, tuple(map(row.cell, places)))
    if not fit and (wanted.required or unfit):
        problems.append(unfit[0] if unfit else _table_missing(wanted))


def _table_missing(wanted: _TableShape) -> Problem:
    columns = ", ".join(names[0].capitalize() for names in wanted.columns)
    message = f"{FILE}: no table under '## {wanted.title}'; expected one with {columns}"
    return Problem("table-missing", message, FILE, wanted.title, expected=columns)


def _column_missing(wanted: _TableShape, place: int, columns: tuple[str, ...]) -> Problem:
    column, found = wanted.columns[place][0].capitalize(), ", ".join(columns)
    message = f"{FILE}: the table under '## {wanted.title}' has no column {column}; found {found}"
    return Problem("column-missing", message, FILE, f"{wanted.title}.{column}", found, column)


_STAGE = re.compile(rf"(?:[^/\s]+/)*({STAGE})")


def _problem(code: Code, row: Row, what: str, found: str, expected: str, field: str) -> Problem:
    text = f"{what} is '{found}'; expected {expected}"
    return problem_at(row.number, code, text, field, found, expected)


def _task(row: Row, problems: list[Problem]) -> str:
    text = plain(row.cells[0])
    key = task_named(text)
    if not key:
        problems.append(_problem("bad-task-name", row, "Task", text, "task-NN", "Task"))
    return key or ""


def _branches(rows: Iterable[Row], problems: list[Problem]) -> Iterator[Branch]:
    for row in rows:
        task = _task(row, problems)
        name, written = plain(row.cells[1]), plain(row.cells[2])
        base = _base(written)
        if not base:
            what = f"Base of {task or row.cells[0]}"
            problems.append(_problem("unknown-base", row, what, written, BASES, "Base"))
        problems += _unsafe(row, name, task)
        if task:
            yield Branch(task, name, base or Base("feature"), row.number)


def _base(text: str) -> Base | None:
    if text == "feature branch tip":
        return Base("feature")
    if text.endswith(" tip") and (task := task_named(text.removesuffix(" tip"))):
        return Base("task", task)
    return Base("stage", text) if re.fullmatch(STAGE, text) else None


def _unsafe(row: Row, name: str, owner: str) -> Iterator[Problem]:
    if reason := branches.unsafe(name):
        text = f"Branch of {owner} is '{name}', which has {reason}"
        expected = "a name that git takes for a branch"
        yield problem_at(row.number, "unsafe-branch", text, "Branch", name, expected)


def _stages(rows: Iterable[Row], problems: list[Problem]) -> Iterator[Stage]:
    for row in rows:
        branch, composition, _ = map(plain, row.cells)
        match = _STAGE.fullmatch(branch)
        if not match:
            what, form = "Stage branch", "stage-after-W<N>"
            problems.append(_problem("bad-stage-name", row, what, branch, form, what))
            continue
        problems += _unsafe(row, branch, match[1])
        parts = _parts(composition)
        if not parts:
            what = f"Composition of {match[1]}"
            form = "tips and nothing else, as in 'merge(task-01 tip, task-02 tip)'"
            problems.append(
                _problem("bad-composition", row, what, composition, form, "Composition")
            )
        yield Stage(match[1], branch, parts, row.number)


_PART = re.compile(rf"{TASK}|{STAGE}")
_BETWEEN = re.compile(r"[\s,+&()]+")
_FILLING = frozenset({"", "merge", "of", "and", "tip", "tips"})


def _parts(text: str) -> tuple[str, ...]:
    """The tips that are named. Words such as `all` or `task-01 through task-09` name none."""
    joined = re.sub(r"\b([Tt]ask) (?=[0-9])", r"\1-", text)
    words = [word for word in _BETWEEN.split(joined) if word.casefold() not in _FILLING]
    names = [task_file.dependency(word.rpartition("/")[2]) for word in words]
    return tuple(dict.fromkeys(names)) if all(map(_PART.fullmatch, names)) else ()


def _analysis(rows: Iterable[Row], problems: list[Problem]) -> Iterator[Needs]:
    for row in rows:
        if task := _task(row, problems):
            words = (task_file.dependency(word) for word in task_file.items(row.cells[1]))
            listed = task_file.items(row.cells[2])
            unread = tuple(filter(task_file.is_unread, listed))
            files = (task_file.plain_path(file) for file in listed if file not in unread)
            needs = tuple(dict.fromkeys(words))
            yield Needs(task, needs, tuple(dict.fromkeys(files)), row.number, unread)
