"""Problems, and files that were checked for them, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Problem, counted
from qrspi.render.terminal import one_line

if TYPE_CHECKING:
    from qrspi.handlers.runs.validate_files import Checked


def fields(problem: Problem, *names: str) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in names}


def violation(problem: Problem) -> dict[str, Any]:
    """Every key, always, as programs that read many of them expect."""
    return fields(problem, "code", "file", "field", "found", "expected", "hint", "message")


def violations(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [violation(problem) for problem in problems]


def warning(problem: Problem) -> dict[str, Any]:
    return fields(problem, "code", "file", "message")


def warnings(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [warning(problem) for problem in problems]


def error_document(problem: Problem, more: Iterable[Problem] = ()) -> dict[str, Any]:
    document = {"schema": "qrspi/error/v1", **violation(problem)}
    document["options"] = list(problem.options)
    if others := violations(more):
        document["violations"] = others
    return document


def lines(problem: Problem) -> list[str]:
    """The line, then the numbered ways out. A command that the line names is not said twice."""
    lines = [one_line(problem.message)]
    lines += [f"  {at}) {one_line(text)}" for at, text in enumerate(problem.options, 1)]
    named = f"`{problem.hint}`" in problem.message
    if problem.hint and not problem.options and not named:
        lines.append(f"  {one_line(problem.hint)}")
    return lines


def marked(word: str, problems: Iterable[Problem]) -> list[str]:
    """A line for each, such as `warning: config.md has …`."""
    return [f"{word}: {one_line(problem.message)}" for problem in problems]


def files_document(checked: list[Checked]) -> dict[str, Any]:
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
        "problems": violations(item.problems),
        "warnings": warnings(item.warnings),
    }


def files_lines(checked: list[Checked]) -> list[str]:
    """Files that are good are only counted."""
    lines: list[str] = []
    for item in checked:
        lines += [line for problem in item.problems for line in _error(item, problem)]
        lines += marked("warning", item.warnings)
    bad = sum(bool(item.problems) for item in checked)
    verdict = f"{bad} of {len(checked)} bad" if bad else "all good"
    lines += [""] if lines else []
    return [*lines, f"{counted(len(checked), 'file')} checked: {verdict}."]


def _error(item: Checked, problem: Problem) -> list[str]:
    """The hint about a reviewer's file is for its round, which may be over."""
    hinted = problem.hint and item.kind in ("artifact", "companion", "task")
    return [*marked("error", [problem]), *([f"  {one_line(problem.hint)}"] if hinted else [])]
