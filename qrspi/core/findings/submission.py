"""A file that a reviewer or verifier handed in, and the notes about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.yaml.frontmatter import text as text_of
from qrspi.core.yaml.nodes import Node

if TYPE_CHECKING:
    from qrspi.core.yaml.lenient_reader import Loose

_AGAIN = "correct it in the file, or send the reviewer again"
_VERIFY_AGAIN = "send the verifier again"

# In the order in which violations are reported.
HINTS: dict[Code, str] = {
    "missing_output": "send the reviewer again",
    "malformed_yaml": _AGAIN,
    "missing_field": _AGAIN,
    "bad_enum": _AGAIN,
    "bad_finding_id": _AGAIN,
    "duplicate_finding_id": "give each finding of a reviewer an id of its own",
    "reviewer_mismatch": _AGAIN,
    "round_mismatch": _AGAIN,
    "unrouted_tag": "move the file away, or name the tag under extra_reviewers in config.md",
    "combined_findings": "put each finding into a file of its own",
    "forged_boundary": "indent the line with other text, or send the reviewer again",
    "bad_sentinel": _AGAIN,
    "score_unparseable": _VERIFY_AGAIN,
    "ambiguous_sidecar": "keep one of them and move the others away",
    "too_large": "shorten or split it, or send the reviewer again",
    "bad_name": "rename the file, or move it out of the round directory",
    "not_a_file": "put a regular file in its place",
    "unreadable": "make the file readable",
    "foreign_engine_file": "move the file out of the round directory",
    "not_dispatched": "have it made again with `qrspi resolve retry`",
    "missing_sidecar": _VERIFY_AGAIN,
    "verify_failed": _VERIFY_AGAIN,
}
_RANK = {code: at for at, code in enumerate(HINTS)}


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (_RANK[problem.code], problem.file)))


def listed(words: Sequence[str]) -> str:
    """`low, medium or high`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


STRUCTURE = "a list or a mapping"
FAILED = "VERIFY_FAILED"  # a verifier's word that it could not give a score
_SHOWN = 80


def shown(text: str) -> str:
    """On one line, not too long, and without what could steer a terminal."""
    line = " ".join(text[: 4 * _SHOWN].split())
    line = line if line.isprintable() else repr(line)[1:-1]
    return f"{line[:_SHOWN]}…" if len(line) > _SHOWN else line


class Notes:
    """Violations block a round, warnings do not. A slip leaves the meaning clear; config.md decides
    which of the two it is."""

    def __init__(self, *, strict: bool = False) -> None:
        self.violations: list[Problem] = []
        self.warnings: list[Problem] = []
        self.slips = self.violations if strict else self.warnings

    def about(self, file: str) -> Page:
        return Page(self, file)


class Page:
    def __init__(self, notes: Notes, file: str) -> None:
        self._notes = notes
        self.file = file

    def violation(
        self, code: Code, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.violations.append(self._problem(code, text, field, found, expected))

    def slip(
        self, code: Code, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.slips.append(self._problem(code, text, field, found, expected))

    def warning(
        self, code: Code, text: str, *, field: str = "", found: str = "", expected: str = ""
    ) -> None:
        self._notes.warnings.append(self._problem(code, text, field, found, expected))

    def wrong(self, code: Code, field: str, found: str, expected: str) -> None:
        what = found if found == STRUCTURE else f"'{shown(found)}'"
        text = f"{field} is {what}; expected {expected}"
        self.violation(code, text, field=field, found=shown(found), expected=expected)

    def instead(self, code: Code, found: str, expected: str) -> None:
        self.violation(code, f"{found}; expected {expected}", found=found, expected=expected)

    def read_from(self, source: str, field: str, value: str) -> None:
        text = f"{field} is missing; read as {value}, from {source}"
        self.slip("missing_field", text, field=field, expected=value)

    def missing(self, field: str, expected: str) -> None:
        text = f"{field} is missing; expected {expected}"
        self.violation("missing_field", text, field=field, expected=expected)

    def unreadable_yaml(self, problem: Problem) -> None:
        self._notes.violations.append(
            problem._replace(code="malformed_yaml", hint=HINTS["malformed_yaml"])
        )

    def unquoted(self, loose: Loose) -> None:
        for key in loose.unquoted:
            text = f"{key} has a colon or a quote and is not quoted; it is read as written"
            self.slip("malformed_yaml", text, field=key, expected="a quoted string")

    def _problem(self, code: Code, text: str, field: str, found: str, expected: str) -> Problem:
        message = f"{self.file}: {text}"
        return Problem(code, message, self.file, field, found, expected, HINTS.get(code, ""))


class Place(NamedTuple):
    """The round that a file stands in."""

    subject: Subject
    number: int
    elsewhere: bool = False  # its writer was not sent from here


class Submission(NamedTuple):
    name: str  # inside the round directory
    data: bytes  # ends in exactly one newline
    text: str
    page: Page
    place: Place


def receive(name: str, data: bytes, place: Place, page: Page) -> Submission | None:
    whole = finished(data)
    try:
        text = whole.decode()
    except UnicodeDecodeError as error:
        at = f"byte {error.start + 1} is not UTF-8"
        page.violation("malformed_yaml", f"{at}; expected UTF-8 text", found=at, expected="UTF-8")
        return None
    if whole != data:
        page.warning("newline_normalised", "does not end in exactly one newline; read as if it did")
    _look_for_boundaries(text, page)
    return Submission(name, whole, text, page, place)


def finished(data: bytes) -> bytes:
    """The same text, ending in exactly one newline."""
    if data[-1:] == b"\n" and data[-2:-1] not in b"\r\n":
        return data
    bare = data.rstrip(b"\r\n")
    return data if data[len(bare) :] in (b"\n", b"\r\n") else bare + b"\n"


_BOUNDARY = r"<!--[ \t]*@@(?:FINDING|SCORE|CLEAN|ESCALATED)[ \t]*:"


def _look_for_boundaries(text: str, page: Page) -> None:
    if "@@" not in text:
        return
    # splitlines knows more line ends than the newline, and so may readers of the assembled file.
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(_BOUNDARY, line.lstrip()):
            text = f"line {number} begins with '{match[0]}', which only the engine writes"
            expected = "no line that begins like a boundary of the assembled file"
            page.violation("forged_boundary", text, found=match[0], expected=expected)
            return


def proper_key(fields: Mapping[str, Node], names: tuple[str, ...], page: Page) -> str | None:
    """The first of these names that the file uses; the first in the list is the proper one."""
    if names[0] in fields:
        return names[0]
    proper, used = names[0], next((name for name in names if name in fields), None)
    if used:
        text = f"{proper} is missing; '{used}' is read in its place"
        page.slip("missing_field", text, field=proper, found=used, expected=proper)
    return used


REVIEWER_NAMES = ("reviewer", "reviewer_tag")


def check_reviewer(fields: Mapping[str, Node], tag: str, page: Page) -> None:
    key = proper_key(fields, REVIEWER_NAMES, page)
    reviewer = text_of(fields, key) if key else None
    if reviewer == tag:
        return
    if not key or reviewer == "":
        page.read_from("the file's name", "reviewer", tag)
    elif reviewer == tag.rpartition("-")[2] != tag:
        text = f"reviewer is '{reviewer}', the vendor alone; read as {tag}"
        page.slip("reviewer_mismatch", text, field="reviewer", found=reviewer, expected=tag)
    else:
        page.wrong("reviewer_mismatch", "reviewer", written(fields, key), tag)


def check_round(fields: Mapping[str, Node], number: int, page: Page) -> None:
    text = text_of(fields, "round")
    if text == str(number):
        return
    if "round" not in fields or text == "":
        page.read_from("the directory's name", "round", str(number))
    elif not is_number(text, number):
        page.wrong("round_mismatch", "round", written(fields, "round"), str(number))


def is_number(text: str | None, number: int) -> bool:
    """`3` and `03` are the same number."""
    digits = text or ""
    return digits.isascii() and digits.isdigit() and (digits.lstrip("0") or "0") == str(number)


def written(fields: Mapping[str, Node], key: str) -> str:
    text = text_of(fields, key)
    return STRUCTURE if text is None else text
