"""The phases of a run, as phasing.md names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from qrspi.core.text import headings, tables
from qrspi.core.text.tables import Line

_H3 = re.compile(r" {0,3}###[ \t]+(.*?)[ \t#]*$")
_PHASE = re.compile(r"phase[ \t]+([1-9][0-9]{0,5})\b.*", re.IGNORECASE)


def numbers(phasing: bytes) -> tuple[int, ...]:
    """The N of `## Phase N`, and of `### Phase N` below `## Phases`, in order, each once."""
    sections = headings.read(phasing)
    phases = {number_of(span.title) for span in sections.spans}
    if span := sections.named("phases"):
        lines = phasing.decode(errors="replace").split("\n")[span.start : span.end]
        phases |= {number_of(title) for title in _below(lines)}
    return tuple(sorted(number for number in phases if number))


def _below(lines: list[str]) -> Iterator[str]:
    matches = (_H3.match(line.text) for line in tables.shown(map(Line, count(1), lines)))
    return (match[1] for match in matches if match)


def number_of(title: str) -> int | None:
    """`Phase 2: Sign-in` is 2; None when a heading names no phase."""
    match = _PHASE.fullmatch(title)
    return int(match[1]) if match else None


def is_last(phasing: bytes, current: int) -> bool:
    return not any(number > current for number in numbers(phasing))
