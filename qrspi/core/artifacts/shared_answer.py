"""One answer for several questions: a part for each, and their numbers in its frontmatter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qrspi.core.artifacts.inquiry import IDS, QuestionGroup
from qrspi.core.model import Problem
from qrspi.core.text.tables import lines_of, shown
from qrspi.core.yaml import frontmatter, writer

_PART = re.compile(r" {0,3}##[ \t]+Q(?:uestion[ \t]*)?0{0,3}(\d{1,4})\b")
_SUMMARY = re.compile(r" {0,3}###[ \t]+Summary[ \t]*#*[ \t]*$")
_HEADING = re.compile(r" {0,3}#{1,3}[ \t]")


def fault(data: bytes, asked: QuestionGroup) -> Problem | None:
    """Of several questions each has a part with a summary, as later texts are made from that."""
    if len(asked.questions) == 1:
        return None
    has_summary = dict(_summaries(frontmatter.body(data)))
    lacking = [name for name in asked.ids if not has_summary.get(name)]
    if not lacking:
        return None
    names, expected = ", ".join(lacking), f"`## {lacking[0]}`, and text below its `### Summary`"
    text = f"{asked.file} has no summary of {names}; expected {expected}"
    return Problem(
        "text-lacks", text, asked.file, found=f"no summary of {names}", expected=expected
    )


def _summaries(body: bytes) -> Iterator[tuple[str, bool]]:
    """The questions that have a part, and whether there is a text below its summary."""
    part, inside = "", False
    for line in (one.text for one in shown(lines_of(body))):
        if match := _PART.match(line):
            part, inside = f"Q{int(match[1])}", False
        elif _HEADING.match(line):
            inside = bool(_SUMMARY.match(line))
        elif part and inside and line.strip():
            yield part, True


def with_ids(data: bytes, asked: QuestionGroup) -> bytes | Problem:
    """The numbers of those that were asked, whatever it says itself."""
    if len(asked.questions) == 1:
        return writer.remove_field(data, IDS, asked.file)
    return writer.set_field(data, IDS, f"[{', '.join(asked.ids)}]", asked.file)
