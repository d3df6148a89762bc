"""A quality reviewer's answer: five axes, the gaps it sees, the fixes it suggests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qrspi.core.gates.quality.verdict_line import AXES, Verdict
from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple

Mark = Literal["◯", "△", "✗"]

_MARKS: Mapping[str, Mark] = {"◯": "◯", "○": "◯", "△": "△", "✗": "✗", "×": "✗", "✕": "✗"}
_BY_FIRST_WORD = {axis.partition("_")[0]: axis for axis in AXES}
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_VERDICT = re.compile(
    r"verdict[ \t]*:[ \t*`]*(PASS|NEEDS_REFINEMENT|REJECT|INSUFFICIENT_CONTEXT)\b", re.IGNORECASE
)
_AXIS = re.compile(r"[-*+][ \t]+[*`_]*([A-Za-z]+)[^:]{0,40}:[ \t*`]*(\S)(.*)")
_BULLET = re.compile(r"[-*+][ \t]+(.*)|[0-9]{1,3}[.)][ \t]+(.*)")
_NOTHING = frozenset(("none", "none.", "n/a", "-", "—", "nothing", "nothing."))
_FOUND = 80  # characters of an answer that a message quotes


class ReviewerReply(NamedTuple):
    verdict: Verdict
    per_axis: Mapping[str, Mark]
    gaps: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[str, ...]:
        return tuple(axis for axis in AXES if self.per_axis.get(axis, "◯") != "◯")


class Malformed(NamedTuple):
    why: str  # the answer decides nothing


def read(text: str) -> ReviewerReply | Malformed:
    parts = _parts(text)
    verdicts = _verdicts(parts)
    if len(verdicts) != 1 or verdicts[0] not in _KNOWN:
        return Malformed(_no_verdict(verdicts))
    marks, remarks = _axes(parts.get("per-axis findings", []))
    insufficient = verdicts[0] == "INSUFFICIENT_CONTEXT"
    if isinstance(marks, Malformed):
        return marks
    missing = [axis for axis in AXES if axis not in marks]
    if missing and not insufficient:
        return Malformed(f"the answer does not judge {', '.join(missing)}")
    verdict = "NEEDS_REFINEMENT" if insufficient else _decided(marks)
    gaps = tuple(_bullets(parts.get("specific gaps", [])))
    if verdict == "PASS":
        return ReviewerReply("PASS", marks)
    fixes = tuple(_bullets(parts.get("suggested concrete fixes", [])))
    gaps = gaps or remarks or ("the reviewer names no gap",)
    return ReviewerReply(verdict, marks, gaps, fixes)


def _decided(marks: Mapping[str, Mark]) -> Verdict:
    """The axes decide, whatever the line of the verdict says."""
    if "✗" in marks.values():
        return "REJECT"
    return "NEEDS_REFINEMENT" if "△" in marks.values() else "PASS"


_KNOWN = ("PASS", "NEEDS_REFINEMENT", "REJECT", "INSUFFICIENT_CONTEXT")


def _no_verdict(verdicts: list[str]) -> str:
    expected = f"`## Verdict: {'|'.join(_KNOWN)}`"
    if not verdicts:
        return f"the answer has no line {expected}"
    if len(verdicts) == 1:
        return f"the answer says {verdicts[0]!r}, expected {expected}"
    return f"the answer has {len(verdicts)} verdicts ({', '.join(verdicts)}), expected one"


_TITLES = ("per-axis findings", "specific gaps", "suggested concrete fixes")


def _parts(text: str) -> dict[str, list[str]]:
    """Lines by the heading above them, where somebody asked for it. Each verdict has a line in the
    part of that name."""
    by_heading: dict[str, list[str]] = {"verdict": []}
    part: list[str] = []
    for line in map(_printable, text.splitlines()):
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            part.append(line)
            continue
        title = heading[1].casefold()
        known = next((name for name in _TITLES if title.startswith(name)), None)
        part = by_heading.setdefault(known, []) if known else []
        if title.startswith("verdict"):
            by_heading["verdict"].append(heading[1])
    return by_heading


def _printable(line: str) -> str:
    """Without anything that an answer must not put into a person's file or terminal."""
    return "".join(char for char in re.sub(r"\s", " ", line) if char.isprintable())


def _verdicts(parts: Mapping[str, list[str]]) -> list[str]:
    matches = ((line, _VERDICT.match(line)) for line in parts["verdict"])
    return [match[1].upper() if match else line[:_FOUND] for line, match in matches]


def _axes(lines: list[str]) -> tuple[dict[str, Mark] | Malformed, tuple[str, ...]]:
    marks: dict[str, Mark] = {}
    remarks: list[str] = []
    for line in lines:
        match = _AXIS.fullmatch(line.strip())
        axis = _BY_FIRST_WORD.get(match[1].casefold()) if match else None
        if match is None or axis is None:
            continue
        mark = _MARKS.get(match[2])
        if mark is None:
            return Malformed(f"the mark of {axis} is {match[2]!r}, expected ◯, △ or ✗"), ()
        if axis in marks:
            return Malformed(f"the answer judges {axis} twice"), ()
        marks[axis] = mark
        if mark != "◯":
            remarks.append(f"{axis}: {match[3].strip(' —–-*`') or 'not good enough'}")
    return marks, tuple(remarks)


def _bullets(lines: list[str]) -> Iterator[str]:
    """One line for each item. A line without a mark continues the one before it."""
    item: list[str] = []
    for line in (*lines, "- none"):
        text = line.strip()
        match = _BULLET.fullmatch(text)
        if match is None:
            item += [text] if item and text else []
            continue
        if item and " ".join(item).casefold() not in _NOTHING:
            yield " ".join(item)
        item = [(match[1] or match[2] or "").strip()]
