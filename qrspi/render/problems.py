"""Problems as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qrspi.core.model import Problem
from qrspi.render.safe_text import one_line


def violation(problem: Problem) -> dict[str, Any]:
    """Every key, always: what programs that read many of them expect."""
    return {
        "code": problem.code,
        "file": problem.file,
        "field": problem.field,
        "found": problem.found,
        "expected": problem.expected,
        "hint": problem.hint,
        "message": problem.message,
    }


def warning(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "file": problem.file, "message": problem.message}


def error_document(problem: Problem, more: Iterable[Problem] = ()) -> dict[str, Any]:
    document = {"schema": "qrspi/error/v1", **violation(problem)}
    document["options"] = list(problem.options)
    if others := list(more):
        document["violations"] = [violation(item) for item in others]
    return document


def lines(problem: Problem) -> list[str]:
    """The line, then the numbered ways out."""
    shown = [one_line(problem.message)]
    shown += [f"  {at}) {one_line(text)}" for at, text in enumerate(problem.options, 1)]
    if problem.hint and not problem.options:
        shown.append(f"  {one_line(problem.hint)}")
    return shown
