"""The phases of a run, as phasing.md names them."""

from __future__ import annotations

import re

from qrspi.core.text import headings

_PHASE = re.compile(r"phase[ \t]+([1-9]\d{0,5})\b.*", re.IGNORECASE)


def numbers(phasing: bytes) -> tuple[int, ...]:
    """The N of its `## Phase N` headings, in order, each once."""
    found = (number_of(span.title) for span in headings.read(phasing).spans)
    return tuple(sorted({number for number in found if number}))


def number_of(title: str) -> int | None:
    """`Phase 2: Sign-in` is 2; None when a heading names no phase."""
    match = _PHASE.fullmatch(title)
    return int(match[1]) if match else None


def is_last(phasing: bytes, current: int) -> bool:
    return not any(number > current for number in numbers(phasing))
