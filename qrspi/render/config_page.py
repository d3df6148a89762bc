"""config.md as a document and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import ndiff
from typing import Any

from qrspi.core.config.reader import KNOWN, Config, Report
from qrspi.core.model import Problem
from qrspi.render import problems
from qrspi.render.columns import table
from qrspi.render.safe_text import one_line

_HIDDEN = "hidden"


def validation(report: Report) -> dict[str, Any]:
    return {
        "schema": "qrspi/config-validate/v1",
        "ok": report.ok,
        "problems": [_problem(problem) for problem in report.problems],
        "warnings": [problems.warning(item) for item in report.warnings],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "field": problem.field,
        "found": problem.found,
        "expected": problem.expected,
        "message": problem.message,
        "options": list(problem.options),
    }


def validation_lines(report: Report, path: str) -> list[str]:
    """Each problem with its numbered ways out."""
    lines = [line for problem in report.problems for line in (*problems.lines(problem), "")]
    lines += [f"warning: {one_line(item.message)}" for item in report.warnings]
    count = len(report.problems)
    verdict = f"has {count} problem{'' if count == 1 else 's'}" if count else "is good"
    return [*lines, f"{one_line(path)}/config.md {verdict}."]


def fields(config: Config) -> dict[str, Any]:
    """Every known field; None where it is not set or no good."""
    return {name: _plain(getattr(config, name), name) for name in KNOWN}


def _plain(value: Any, name: str = "") -> Any:
    """Headers may carry a key, so only their names are shown."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        if name == "default_headers":
            return dict.fromkeys(value, _HIDDEN)
        return {key: _plain(item, key) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def fields_page(config: Config, width: int) -> list[str]:
    shown = fields(config)
    rows = [row for name in KNOWN for row in _rows(name, shown[name])]
    absent = [name for name in KNOWN if shown[name] in (None, {})]
    wrong = [f"error: {one_line(problem.message)}" for problem in config.problems]
    wrong += [f"warning: {one_line(problem.message)}" for problem in config.warnings]
    lines = table(("FIELD", "VALUE"), rows, width) if rows else []
    lines += ["", f"Not set: {', '.join(absent)}."] if absent and rows else []
    return [*lines, *(["", *wrong] if wrong and lines else wrong)]


def _rows(name: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case None:
            return
        case dict():
            for key, item in value.items():
                yield from _rows(f"{name}.{key}", "none" if item is None else item)
        case list():
            yield name, ", ".join(map(str, value))
        case bool():
            yield name, str(value).lower()
        case _:
            yield name, str(value)


def changed_lines(before: bytes, after: bytes) -> list[str]:
    """The lines that go and those that come, marked - and +."""
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    return [one_line(line) for line in ndiff(old, new) if line[:1] in "-+"]


def edit_lines(changed: list[str], dry_run: bool) -> list[str]:
    if not changed:
        return ["config.md stays as it is: there is nothing to change."]
    verb = "Would change" if dry_run else "Changed"
    return [f"{verb} config.md:", *(f"  {line}" for line in changed)]
