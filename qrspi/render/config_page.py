"""config.md as a document and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from qrspi.core.config.reader import KNOWN, Config, Report
from qrspi.core.hints import Any, Protocol
from qrspi.core.model import counted
from qrspi.render import problems
from qrspi.render.terminal import one_line, table

_HIDDEN = "hidden"
_WRITTEN = {"budget.run": "budget"}  # as config.md and `config set` name it


def validation(report: Report) -> dict[str, Any]:
    return {
        "schema": "qrspi/config-validate/v1",
        "ok": report.ok,
        "problems": [
            problems.fields(problem, "code", "field", "found", "expected", "message", "options")
            for problem in report.problems
        ],
        "warnings": problems.warnings(report.warnings),
    }


def validation_lines(report: Report, path: str) -> list[str]:
    lines = [line for problem in report.problems for line in (*problems.lines(problem), "")]
    lines += problems.marked("warning", report.warnings)
    count = len(report.problems)
    verdict = f"has {counted(count, 'problem')}" if count else "is good"
    return [*lines, f"{one_line(path)}/config.md {verdict}."]


def fields(config: Config) -> dict[str, Any]:
    """Every known field; None where it is not set or cannot be used."""
    return {name: _plain(getattr(config, name), name) for name in KNOWN}


def _plain(value: Any, name: str) -> Any:
    """Headers may carry a key, so only their names are shown."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        if name == "default_headers":
            return dict.fromkeys(value, _HIDDEN)
        return {key: _plain(item, key) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def fields_page(config: Config, width: int) -> list[str]:
    values = fields(config)
    rows = [row for name in KNOWN for row in _rows(name, values[name])]
    absent = [name for name in KNOWN if values[name] in (None, {})]
    wrong = problems.marked("error", config.problems) + problems.marked("warning", config.warnings)
    lines = table(("FIELD", "VALUE"), rows, width) if rows else []
    lines += ["", f"Not set: {', '.join(absent)}."] if absent and rows else []
    return [*lines, *(["", *wrong] if wrong and lines else wrong)]


def _rows(name: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case None:
            return
        case dict():
            for key, item in value.items():
                field = _WRITTEN.get(f"{name}.{key}", f"{name}.{key}")
                yield from _rows(field, "none" if item is None else item)
        case list():
            yield name, ", ".join(map(str, value))
        case bool():
            yield name, str(value).lower()
        case _:
            yield name, str(value)


class Edited(Protocol):
    @property
    def before(self) -> bytes: ...
    @property
    def after(self) -> bytes: ...


def edit_document(edit: Edited, dry_run: bool) -> dict[str, Any]:
    changed = edit.before != edit.after
    return {"changed": changed, "lines": _changed(edit), "dry_run": dry_run}


def commit_lines(commit: str, files: Sequence[str]) -> list[str]:
    return [f"  committed as {commit[:12]}: {', '.join(files)}"] if commit else []


def edit_lines(
    edit: Edited, dry_run: bool, file: str = "config.md", why: str = "there is nothing to change"
) -> list[str]:
    changed = _changed(edit)
    if not changed:
        return [f"{one_line(file)} stays as it is: {why}."]
    verb = "Would change" if dry_run else "Changed"
    return [f"{verb} {one_line(file)}:", *(f"  {line}" for line in changed)]


def _changed(edit: Edited) -> list[str]:
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (edit.before, edit.after))
    from difflib import ndiff  # nothing is compared where a config is shown

    return [one_line(line) for line in ndiff(old, new) if line[:1] in "-+"]
