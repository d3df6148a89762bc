"""A review request as an implementer writes it: which checkpoint, and ten fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qrspi.core.named_tuple import NamedTuple

FIELDS = (
    "Context Usage",
    "Self-Correction",
    "Deviations",
    "Agents Remaining",
    "Proposal",
    "Summary",
    "Files Modified",
    "Tests",
    "Smoothness",
)
EITHER = ("Reason", "Key Outputs")  # one of the two is the tenth

_LABELS = {name.casefold(): name for name in (*FIELDS, *EITHER, "Checkpoint")}
_LINE = re.compile(r"[ \t]*([A-Za-z][A-Za-z -]{3,20}?)[ \t]*:(.*)")
_HEADING = re.compile(r"\(\s*Smoothness\s*:([^)\n]*)\)", re.IGNORECASE)
_SCORE = re.compile(r"\s*([0-9])(?:\s*/\s*9)?(?![0-9/.])")
_PLACE = re.compile(r"\s*([1-9][0-9]{0,3})(?:\s+of\s+([1-9][0-9]{0,3}))?(?![0-9])", re.IGNORECASE)
_PERCENT = re.compile(r"\s*~?\s*([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%?")


class Request(NamedTuple):
    checkpoint: int | None  # None: it does not say
    of: int | None
    smoothness: int | None
    usage: float | None  # percent of the context
    corrected: bool
    fields: Mapping[str, str]
    deviations: tuple[str, ...]  # what it lacks

    @property
    def reason(self) -> str:
        return self.fields.get("Reason") or self.fields.get("Summary", "")

    @property
    def complete(self) -> bool:
        return self.checkpoint is not None and self.checkpoint == self.of


def read(text: str) -> Request:
    """Any text is a request; what it lacks is noted."""
    fields = _fields(text)
    place = _PLACE.match(fields.get("Checkpoint", ""))
    usage = _PERCENT.match(fields.get("Context Usage", ""))
    heading = _HEADING.search(text)
    texts = (heading[1] if heading else "", fields.get("Smoothness", ""))
    scores = [int(match[1]) for match in map(_SCORE.match, texts) if match]
    # Implementers flatter themselves: of two scores, the rougher one counts.
    smoothness = max(scores, default=None)
    return Request(
        checkpoint=int(place[1]) if place else None,
        of=int(place[2]) if place and place[2] else None,
        smoothness=smoothness,
        usage=float(usage[1]) if usage else None,
        corrected=fields.get("Self-Correction", "").casefold().startswith("yes"),
        fields=fields,
        deviations=tuple(_lacks(fields, place, smoothness)),
    )


def _fields(text: str) -> dict[str, str]:
    """Each field with the lines below it. Its first mention counts."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        name = _LABELS.get(match[1].casefold()) if match else None
        if match and name:
            lines = [match[2]]
            parts.setdefault(name, lines)
        else:
            lines.append(line)
    texts = {name: "\n".join(part.strip() for part in said).strip() for name, said in parts.items()}
    return {name: said for name, said in texts.items() if said}


def _lacks(
    fields: Mapping[str, str], place: re.Match[str] | None, smoothness: int | None
) -> Iterator[str]:
    if place is None:
        yield "Checkpoint is missing: expected `Checkpoint: N of M`"
    elif not place[2]:
        yield "Checkpoint does not say of how many: expected `Checkpoint: N of M`"
    for name in FIELDS:
        there = smoothness is not None if name == "Smoothness" else name in fields
        if not there:
            yield f"{name} is missing"
    if not any(name in fields for name in EITHER):
        yield f"{' or '.join(EITHER)} is missing"
