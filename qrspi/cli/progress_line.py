"""How far long work has come: a line on stderr, drawn on a terminal and erased at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

PATIENCE = 0.5
_PAUSE = 0.1
_ERASE = "\r\x1b[K"

T = TypeVar("T")


def told(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, one by one; nothing is drawn in the first half second."""
    due = time.monotonic() + PATIENCE
    drawn = False
    try:
        for at, item in enumerate(items):
            if time.monotonic() >= due:
                _draw(f"{_ERASE}{what}: {at} of {len(items)}")
                drawn, due = True, time.monotonic() + _PAUSE
            yield item
    finally:
        if drawn:
            _draw(_ERASE)


def _draw(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
