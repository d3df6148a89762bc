"""Tasks that plan.md names, in a table or under a heading, compared with the task files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.filenames import task_named
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.text.tables import Line, Row, Table, lines_of, plain, shown, tables
from qrspi.core.tree import Tree, content, entries

FILE = STEP["plan"].artifact
_HEADING = re.compile(r" {0,3}#{2,4}[ \t]+(.*?)[ \t#]*$")


def without_file(tree: Tree) -> tuple[Problem, ...]:
    lines = lines_of(content(tree, FILE))
    named = {key: number for number, key in sorted(_named(lines), reverse=True)}
    known = {*task_file.read_keys(tree), *_put_away(tree)} if named else frozenset()
    missing = sorted((number, key) for key, number in named.items() if key not in known)
    return tuple(_problem(tree, number, key) for number, key in missing)


def names_any(plan: bytes) -> bool:
    return any(_named(lines_of(plan)))


def without_need(tree: Tree) -> tuple[Problem, ...]:
    """Dependencies in the plan's table alone. Only a task's own file decides what it builds on."""
    wanted = tuple(_needs(lines_of(content(tree, FILE))))
    known = task_file.read_all(tree)[0] if wanted else {}
    return tuple(
        _not_said(row.number, key, need)
        for row, key, need in wanted
        if key in known and need in known and need not in known[key].dependencies
    )


def _named(lines: tuple[Line, ...]) -> Iterator[tuple[int, str]]:
    for number, text in shown(lines):
        heading = _HEADING.match(text)
        if heading and (key := task_named(_plain(heading[1]))):
            yield number, key
    for table in tables(lines):
        yield from ((row.number, key) for row, key in _rows(table))


def _rows(table: Table) -> Iterator[tuple[Row, str]]:
    task = table.column(("task",))
    for row in table.rows:
        if key := task_named(_plain(row.cell(task))):
            yield row, key


def _needs(lines: tuple[Line, ...]) -> Iterator[tuple[Row, str, str]]:
    for table in tables(lines):
        needs = table.column(task_file.NEEDS_COLUMN)
        for row, key in _rows(table):
            for word in task_file.items(_plain(row.cell(needs))):
                yield row, key, task_file.dependency(word)


def _plain(cell: str) -> str:
    return plain(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell))


def _put_away(tree: Tree) -> Iterator[str]:
    for phase in entries(tree, "phases"):
        for entry in entries(tree, f"phases/{phase.name}/tasks"):
            yield entry.name.removesuffix(".md")


def _problem(tree: Tree, number: int, key: str) -> Problem:
    path = task_file.task_path(key)
    back = tree.to_restore(path)
    way = f"bring it back with `{back}`" if back else "write it"
    text = f"{FILE}:{number}: {key} has no file {path}; {way}, or take the task out of the plan"
    return Problem("task-without-file", text, path, "Task", key, path, back)


def _not_said(number: int, key: str, need: str) -> Problem:
    path = task_file.task_path(key)
    text = (
        f"{FILE}:{number}: {key} depends on {need}, and {path} does not say so; add {need} to its "
        "dependencies, or take it out of the plan"
    )
    return Problem("dependency-not-in-file", text, path, "dependencies", expected=need)
