"""A file that a reviewer or verifier handed in, and what holds for every one of them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core.findings.violations import STRUCTURE, Page
from qrspi.core.pipeline import Subject
from qrspi.core.yaml.frontmatter import text as text_of
from qrspi.core.yaml.nodes import Node


class Place(NamedTuple):
    """The round that a file stands in."""

    subject: Subject
    number: int


class Submission(NamedTuple):
    name: str  # inside the round directory
    data: bytes  # ends in exactly one newline
    text: str
    page: Page
    place: Place


def receive(name: str, data: bytes, place: Place, page: Page) -> Submission | None:
    """None, with a violation noted, when the bytes are no text."""
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
    # splitlines knows more line ends than a newline: whatever reads the assembled file might too.
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(_BOUNDARY, line.lstrip()):
            page.violation(
                "forged_boundary",
                f"line {number} begins with '{match[0]}', which only the engine writes",
                found=match[0],
                expected="no line that begins like a boundary of the assembled file",
            )
            return


def proper_key(fields: Mapping[str, Node], names: tuple[str, ...], page: Page) -> str | None:
    """The first of these names that the file uses; only the first of all is the proper one."""
    if names[0] in fields:
        return names[0]
    used = next((name for name in names if name in fields), None)
    if used:
        page.slip(
            "missing_field",
            f"{names[0]} is missing; '{used}' is read in its place",
            field=names[0],
            found=used,
            expected=names[0],
        )
    return used


REVIEWER_NAMES = ("reviewer", "reviewer_tag")


def check_reviewer(fields: Mapping[str, Node], tag: str, page: Page) -> None:
    key = proper_key(fields, REVIEWER_NAMES, page)
    reviewer = text_of(fields, key) if key else None
    if reviewer == tag:
        return
    if not key or reviewer == "":
        page.slip(
            "missing_field",
            f"reviewer is missing; read as {tag}, from the file's name",
            field="reviewer",
            expected=tag,
        )
    elif reviewer == tag.rpartition("-")[2] != tag:
        page.slip(
            "reviewer_mismatch",
            f"reviewer is '{reviewer}', the vendor alone; read as {tag}",
            field="reviewer",
            found=reviewer,
            expected=tag,
        )
    else:
        page.wrong("reviewer_mismatch", "reviewer", written(fields, key), tag)


def check_round(fields: Mapping[str, Node], number: int, page: Page) -> None:
    said = text_of(fields, "round")
    if said == str(number):
        return
    if "round" not in fields or said == "":
        page.slip(
            "missing_field",
            f"round is missing; read as {number}, from the directory's name",
            field="round",
            expected=str(number),
        )
    elif not is_number(said, number):
        page.wrong("round_mismatch", "round", written(fields, "round"), str(number))


def is_number(text: str | None, number: int) -> bool:
    """`3`, `03`: how often a zero stands before it does not matter."""
    digits = text or ""
    return digits.isascii() and digits.isdigit() and (digits.lstrip("0") or "0") == str(number)


def written(fields: Mapping[str, Node], key: str) -> str:
    """A field's value, for people."""
    text = text_of(fields, key)
    return STRUCTURE if text is None else text
