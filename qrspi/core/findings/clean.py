"""A clean sentinel: a reviewer's word that it found nothing. Advisory, never an approval."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core import patterns
from qrspi.core.filenames import CleanName, clean_file
from qrspi.core.findings.submission import (
    Page,
    Submission,
    check_reviewer,
    check_round,
    is_number,
    listed,
    written,
)
from qrspi.core.model import Clean, Problem
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.frontmatter import text as text_of
from qrspi.core.yaml.nodes import Node

# How reviewers say "nothing found" in a field of their own.
_OTHER_WORDS: dict[str, tuple[str, ...]] = {
    "finding_id": ("none", "clean"),
    "result": ("clean",),
    "status": ("clean",),
    "verdict": ("clean",),
}


def render(tag: str, number: int) -> bytes:
    return f"---\nreviewer: {tag}\nround: {number}\nfindings: 0\n---\n".encode()


LINES, CHARACTERS = 5, 300


# A line of a head that says no more than it must.
_BARE = r"-{3}|(?:reviewer|round|findings|finding_id|result|status|verdict): *[\"']?[\w.-]*[\"']?|"


def remark(sentinel: Clean) -> str:
    """What a sentinel says besides "nothing found", in its head or below; '' when that is little or
    nothing."""
    body = frontmatter.body(sentinel.data)
    head = sentinel.data[: len(sentinel.data) - len(body)].decode("utf-8", "replace")
    more = (line for line in head.splitlines() if not patterns.fullmatch(_BARE, line.strip()))
    text = "\n".join((*more, body.decode("utf-8", "replace"))).strip()
    return text if len(text.splitlines()) > LINES or len(text) > CHARACTERS else ""


def read(submission: Submission, name: CleanName) -> Clean | None:
    page = submission.page
    front = frontmatter.read(submission.data, page.file)
    if isinstance(front, Problem):
        page.unreadable_yaml(front)
        return None
    if not name.usual:
        usual = clean_file(name.tag)
        text = f"not the usual name of a clean sentinel; expected {usual}; it is read as clean"
        page.slip("bad_sentinel", text, found=submission.name, expected=usual)
    elif front is None:
        expected = "reviewer, round and findings: 0 between two lines of ---"
        page.instead("malformed_yaml", "no frontmatter", expected)
        return None
    if front and not _is_clean(submission, front, name.tag):
        return None
    return Clean(name.tag, submission.name, submission.data)


def _is_clean(submission: Submission, front: Front, tag: str) -> bool:
    page = submission.page
    check_reviewer(front.fields, tag, page)
    check_round(front.fields, submission.place.number, page)
    if submission.data[front.body :].strip():
        text = "a clean sentinel with text below its frontmatter; it is read as clean"
        page.slip("bad_sentinel", text, found="text", expected="frontmatter only")
    saying = _saying_clean(front.fields, page)
    if "findings" not in front.fields:
        return _says_clean(front.fields, saying, page)
    if not is_number(text_of(front.fields, "findings"), 0):
        page.wrong("bad_sentinel", "findings", written(front.fields, "findings"), "0")
        return False
    return True


def _saying_clean(fields: Mapping[str, Node], page: Page) -> list[str]:
    """The fields that say clean in other words."""
    saying = [key for key, words in _OTHER_WORDS.items() if text_of(fields, key) in words]
    for key in saying:
        text = f"{key} says that it is clean; expected findings: 0; it is read as clean"
        found = written(fields, key)
        page.slip("bad_sentinel", text, field=key, found=found, expected="findings: 0")
    return saying


def _says_clean(fields: Mapping[str, Node], saying: list[str], page: Page) -> bool:
    against = [key for key in _OTHER_WORDS if key in fields and key not in saying]
    for key in against:
        page.wrong("bad_sentinel", key, written(fields, key), listed(_OTHER_WORDS[key]))
    if not against and not saying:
        text = "findings is missing; expected 0; it is read as clean"
        page.slip("bad_sentinel", text, field="findings", expected="0")
    return not against
