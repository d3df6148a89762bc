"""What the text of a step has at least, as a program can see it. Before that nobody reviews it,
and it does not approve itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qrspi.core.artifacts import plan_tasks, questions, task_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import step_text
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.tree import Tree, content
from qrspi.core.yaml import frontmatter

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_PLAIN = re.compile(r" {0,3}(?![-=#>|*+ ])\S")
_HEADED = ("goals", "design", "phasing", "ux", "structure")
_TASKS = "tasks/"


def faults(tree: Tree, step: str) -> tuple[Problem, ...]:
    artifact = STEP[step].artifact
    has_tasks = step == "plan" and bool(task_file.read_keys(tree))
    seen = [fault(artifact, content(tree, artifact), has_tasks)]
    if step == "research":
        answers = step_text.companions(tree, step)
        seen += [fault(path, content(tree, path)) for path in answers]
    return tuple(problem for problem in seen if problem)


def fault_in(tree: Tree, step: str, printed: Mapping[str, bytes]) -> Problem | None:
    """The same of files that are not written yet."""
    tasks = any(path.startswith(_TASKS) for path in printed)
    has_tasks = tasks or (step == "plan" and bool(task_file.read_keys(tree)))
    return next(filter(None, (fault(*file, has_tasks) for file in printed.items())), None)


def fault(file: str, data: bytes, has_tasks: bool = False) -> Problem | None:
    """What the text lacks. Of a plan, tasks may be known from files of their own alone."""
    match file:
        case questions.ARTIFACT if not questions.parse(data)[0]:
            return _lacks(file, "no question", "a list such as `1. [codebase] Which modules …?`")
        case plan_tasks.FILE if not has_tasks and not plan_tasks.names_any(data):
            return _lacks(file, "no task", "a table of tasks, and tasks/task-NN.md for each")
        case _ if file in _HEADED_FILES and not _is_headed(data):
            what = "no goal" if file == STEP["goals"].artifact else "no section"
            return _lacks(file, what, "headings with text below them")
        case _ if file.startswith("research/") and not frontmatter.body(data).strip():
            return _lacks(file, "no text", "what was found, or that nothing was")
        case _:
            return None


_HEADED_FILES = frozenset(STEP[step].artifact for step in _HEADED)


def _is_headed(data: bytes) -> bool:
    above = ""
    for line in shown(lines_of(frontmatter.body(data))):
        if _HEADING.match(line.text):
            return True
        if _UNDERLINE.match(line.text) and _PLAIN.match(above):
            return True
        above = line.text
    return False


def _lacks(file: str, found: str, expected: str) -> Problem:
    text = f"{file} has {found}; expected {expected}"
    return Problem("text-lacks", text, file, found=found, expected=expected)
