"""`round-NN-dispositions.md`: what was done about a round's findings, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qrspi.core import headings, yaml
from qrspi.core.filenames import is_safe, round_name
from qrspi.core.model import Problem
from qrspi.core.nodes import Node, Scalar
from qrspi.core.violations import shown

LINES_LIMIT = 30
SECTION = "Sub-Threshold Observations"
_TEXTS = ("summary", "defect_class")
_NUMBERS = ("representative_score", "threshold")
_FENCED = re.compile(
    r"^(```+|~~~+)[ \t]*(?:ya?ml)?[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL
)


def nothing_applied(number: int) -> bytes:
    """For a round whose findings were all skipped by a person."""
    return f"# Round {number:02d} dispositions\n\nNothing was applied.\n".encode()


def problems(data: bytes, file: str, number: int) -> tuple[Problem, ...]:
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return (_problem(file, f"byte {error.start + 1} is not UTF-8", "UTF-8 text"),)
    spans = headings.read(data).spans
    section = next((span for span in spans if span.title == SECTION), None)
    lines = text.split("\n")
    before = lines[: section.start - 1] if section else lines
    found = [*_too_long(before, file)]
    if section:
        found += _observations("\n".join(lines[section.start : section.end]), file, number)
    return tuple(found)


def _problem(file: str, found: str, expected: str, field: str = "") -> Problem:
    what = f"{field} is {found}" if field else found
    message = f"{file}: {what}; expected {expected}"
    return Problem("bad_dispositions", message, file, field, found, expected)


def _too_long(lines: list[str], file: str) -> Iterator[Problem]:
    count = len("\n".join(lines).rstrip().split("\n"))
    if count > LINES_LIMIT:
        where = f" before '## {SECTION}'"
        yield _problem(file, f"{count} lines{where}", f"at most {LINES_LIMIT}")


def _observations(text: str, file: str, number: int) -> Iterator[Problem]:
    fenced = _FENCED.search(text)
    if not fenced:
        yield _problem(file, f"no fenced YAML under '## {SECTION}'", "a fenced observations: list")
        return
    fields = yaml.parse(fenced[2], file)
    if isinstance(fields, Problem):
        yield _problem(file, f"under '## {SECTION}': {fields.message}", "YAML")
        return
    items = _items(fields.get("observations"))
    if items is None:
        yield _problem(file, "no list", "a list of observations", "observations")
        return
    for at, item in enumerate(items, 1):
        yield from _observation(item, f"observations[{at}]", file, number)


def _observation(item: Node, field: str, file: str, number: int) -> Iterator[Problem]:
    if not isinstance(item, dict):
        yield _problem(file, "not a mapping", f"{', '.join((*_TEXTS, *_NUMBERS))}", field)
        return
    for key in _TEXTS:
        if not _text(item.get(key)):
            yield _problem(file, "missing or not text", "one line of text", f"{field}.{key}")
    for key in _NUMBERS:
        if not _is_score(_text(item.get(key))):
            found = f"'{shown(_text(item.get(key)))}'"
            yield _problem(file, found, "a whole number from 0 to 100", f"{field}.{key}")
    yield from _paths(item.get("finding_paths"), f"{field}.finding_paths", file, number)


def _items(node: Node | None) -> tuple[Node, ...] | None:
    # A Scalar is a tuple too.
    return node if isinstance(node, tuple) and not isinstance(node, Scalar) else None


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _is_score(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100


def _paths(node: Node | None, field: str, file: str, number: int) -> Iterator[Problem]:
    folder = f"{round_name(number)}/"
    expected = f"paths such as {folder}quality-claude.finding-F01.md"
    items = _items(node)
    if not items:
        yield _problem(file, "missing or not a list", f"a list of {expected}", field)
        return
    for entry in items:
        path = _text(entry)
        name = path.removeprefix(folder)
        if name == path or not is_safe(name) or name in (".", ".."):
            yield _problem(file, f"'{shown(path)}'", expected, field)
