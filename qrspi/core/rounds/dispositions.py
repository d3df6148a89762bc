"""`round-NN-dispositions.md`: what was done about a round's findings, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qrspi.core.filenames import is_safe, round_name
from qrspi.core.findings.submission import shown
from qrspi.core.model import Problem
from qrspi.core.records.approvals import Record
from qrspi.core.records.decisions import UNRECORDED
from qrspi.core.text import headings
from qrspi.core.yaml import reader
from qrspi.core.yaml.nodes import Node, Scalar, items

LINES_LIMIT = 30
_LISTED = 20
SECTION = "Sub-Threshold Observations"
_TEXTS = ("summary", "defect_class")
_NUMBERS = ("representative_score", "threshold")
_OPENING = r"(?m)^(```+|~~~+)[ \t]*(?:ya?ml)?[ \t]*\n"


def nothing_applied(number: int, skipped: Mapping[str, Record | None]) -> bytes:
    lines = [_skipped(name, record) for name, record in skipped.items()][:_LISTED]
    if more := len(skipped) - len(lines):
        lines.append(f"- and {more} more")
    text = ["", *lines] if lines else []
    head = [f"# Round {number:02d} dispositions", "", "Nothing was applied."]
    return "".join(f"{line}\n" for line in (*head, *text)).encode()


def _skipped(name: str, record: Record | None) -> str:
    if record is None:
        return f"- {name}: skip, says the pause file; {UNRECORDED}"
    return f"- {name}: skipped by {' '.join(record.person.split())}"


def problems(data: bytes, file: str, number: int) -> tuple[Problem, ...]:
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return (_problem(file, f"byte {error.start + 1} is not UTF-8", "UTF-8 text"),)
    spans = headings.read(data).spans
    section = next((span for span in spans if span.title == SECTION), None)
    lines = text.split("\n")
    if section is None:
        return tuple(_too_long(lines, "", file))
    before = lines[: section.start - 1]
    under = "\n".join(lines[section.start : section.end])
    observations = _observations(under, section.start + 1, file, number)
    return (*_too_long(before, f" before '## {SECTION}'", file), *observations)


def said_of(data: bytes, name: str) -> str:
    """What the line about a finding says; a line may name several."""
    for line in data.decode(errors="replace").splitlines():
        names, colon, words = line.removeprefix("- ").partition(": ")
        if line.startswith("- ") and colon and name in (one.strip() for one in names.split(",")):
            return " ".join(words.split())
    return ""


def _problem(file: str, found: str, expected: str, field: str = "") -> Problem:
    what = f"{field} is {found}" if field else found
    message = f"{file}: {what}; expected {expected}"
    return Problem(
        "bad_dispositions", message, file=file, field=field, found=found, expected=expected
    )


def _too_long(lines: list[str], where: str, file: str) -> Iterator[Problem]:
    count = len("\n".join(lines).rstrip().split("\n"))
    if count > LINES_LIMIT:
        yield _problem(file, f"{count} lines{where}", f"at most {LINES_LIMIT}")


def _fenced(text: str) -> tuple[int, str] | None:
    """How many lines come before the content of the first fenced block, and the content."""
    opening = re.search(_OPENING, text)
    closing = opening and re.compile(rf"^{opening[1]}[ \t]*$", re.MULTILINE).search(
        text, opening.end()
    )
    if not opening or not closing:
        return None
    return text.count("\n", 0, opening.end()), text[opening.end() : closing.start()]


def _observations(text: str, line: int, file: str, number: int) -> Iterator[Problem]:
    fenced = _fenced(text)
    if not fenced:
        yield _problem(file, f"no fenced YAML under '## {SECTION}'", "a fenced observations: list")
        return
    fields = reader.parse(fenced[1], file, first_line=line + fenced[0])
    if isinstance(fields, Problem):
        yield fields._replace(code="bad_dispositions")
        return
    observations = items(fields.get("observations"))
    if observations is None:
        yield _problem(file, "no list", "a list of observations", "observations")
        return
    for at, item in enumerate(observations, 1):
        yield from _observation(item, f"observations[{at}]", file, number)


def _observation(item: Node, field: str, file: str, number: int) -> Iterator[Problem]:
    if not isinstance(item, dict):
        expected = ", ".join((*_TEXTS, *_NUMBERS, "finding_paths"))
        yield _problem(file, "not a mapping", expected, field)
        return
    for key in _TEXTS:
        if not _text(item.get(key)):
            yield _problem(file, "missing or not text", "one line of text", f"{field}.{key}")
    for key in _NUMBERS:
        score = _text(item.get(key))
        if not re.fullmatch(r"[0-9]{1,3}", score) or int(score) > 100:
            found = f"'{shown(score)}'"
            yield _problem(file, found, "a whole number from 0 to 100", f"{field}.{key}")
    yield from _paths(item.get("finding_paths"), f"{field}.finding_paths", file, number)


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _paths(node: Node | None, field: str, file: str, number: int) -> Iterator[Problem]:
    folder = f"{round_name(number)}/"
    expected = f"paths such as {folder}quality-claude.finding-F01.md"
    entries = items(node)
    if not entries:
        yield _problem(file, "missing or not a list", f"a list of {expected}", field)
        return
    for entry in entries:
        path = _text(entry)
        name = path.removeprefix(folder)
        if name == path or not is_safe(name) or name in (".", ".."):
            yield _problem(file, f"'{shown(path)}'", expected, field)
