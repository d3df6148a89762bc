"""Tasks that plan.md names, in a table or under a heading, and that have no file of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.filenames import task_named
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.text.tables import Line, shown, tables
from qrspi.core.tree import Fault, Tree, entries

FILE = STEP["plan"].artifact
_HEADING = re.compile(r" {0,3}#{2,4}[ \t]+(.*?)[ \t#]*$")


def without_file(tree: Tree) -> tuple[Problem, ...]:
    """In the order of the plan, each task once."""
    data = tree.read(FILE)
    if isinstance(data, Fault):
        return ()
    texts = data.decode(errors="replace").splitlines()
    lines = tuple(map(Line, range(1, len(texts) + 1), texts))
    named = {key: number for number, key in sorted(_named(lines), reverse=True)}
    known = {*task_file.keys(tree), *_put_away(tree)} if named else frozenset()
    missing = sorted((number, key) for key, number in named.items() if key not in known)
    return tuple(_problem(number, key) for number, key in missing)


def _named(lines: tuple[Line, ...]) -> Iterator[tuple[int, str]]:
    for number, text in shown(lines):
        heading = _HEADING.match(text)
        if heading and (key := task_named(_plain(heading[1]))):
            yield number, key
    for table in tables(lines):
        place = table.columns.index("task") if "task" in table.columns else -1
        for row in table.rows if place >= 0 else ():
            cell = row.cells[place] if place < len(row.cells) else ""
            if key := task_named(_plain(cell)):
                yield row.number, key


def _plain(cell: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)
    return " ".join(text.replace("`", "").replace("**", "").split())


def _put_away(tree: Tree) -> Iterator[str]:
    """The tasks of earlier phases."""
    for phase in entries(tree, "phases"):
        for entry in entries(tree, f"phases/{phase.name}/tasks"):
            yield entry.name.removesuffix(".md")


def _problem(number: int, key: str) -> Problem:
    path = task_file.task_path(key)
    text = f"{FILE}:{number}: {key} has no file {path}; write it, or take the task out of the plan"
    return Problem("task-without-file", text, FILE, "Task", key, path)
