"""The phases of a run, as phasing.md names them."""

from __future__ import annotations

import re

from qrspi.core import headings

_PHASE = re.compile(r"phase[ \t]+([1-9]\d{0,5})\b.*", re.IGNORECASE)


def numbers(phasing: bytes) -> tuple[int, ...]:
    """The N of its `## Phase N` headings, in order, each once."""
    matches = (_PHASE.fullmatch(span.title) for span in headings.read(phasing).spans)
    return tuple(sorted({int(match[1]) for match in matches if match}))


def is_last(phasing: bytes, current: int) -> bool:
    return not any(number > current for number in numbers(phasing))
