"""What was found wrong with files, as a document and as lines."""

from __future__ import annotations

from typing import Any

from qrspi.core.model import Problem
from qrspi.handlers.runs.validate_files import Checked
from qrspi.render import problems
from qrspi.render.safe_text import one_line


def document(checked: list[Checked]) -> dict[str, Any]:
    return {
        "schema": "qrspi/validate/v1",
        "ok": not any(item.problems for item in checked),
        "files": [_file(item) for item in checked],
    }


def _file(item: Checked) -> dict[str, Any]:
    return {
        "file": item.file,
        "kind": item.kind,
        "ok": not item.problems,
        "problems": [problems.violation(problem) for problem in item.problems],
        "warnings": [problems.warning(problem) for problem in item.warnings],
    }


def _error(item: Checked, problem: Problem) -> list[str]:
    """What is said about a reviewer's file is for the round it is in, which may be over."""
    shown = problem.hint and item.kind in ("artifact", "companion", "task")
    hint = [f"  {one_line(problem.hint)}"] if shown else []
    return [f"error: {one_line(problem.message)}", *hint]


def lines(checked: list[Checked]) -> list[str]:
    """Files that are good are only counted."""
    shown = []
    for item in checked:
        shown += [line for problem in item.problems for line in _error(item, problem)]
        shown += [f"warning: {one_line(problem.message)}" for problem in item.warnings]
    bad = sum(bool(item.problems) for item in checked)
    verdict = f"{bad} of {len(checked)} bad" if bad else "all good"
    count = f"{len(checked)} file{'' if len(checked) == 1 else 's'} checked"
    return [*shown, *([""] if shown else []), f"{count}: {verdict}."]
