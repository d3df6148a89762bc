"""Waiting for a state, never for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LIMIT = 30.0


def until(reached: Callable[[], object], what: str = "", limit: float = LIMIT) -> None:
    """Returns as soon as it is so; an error when it is not so in time."""
    end = time.monotonic() + limit
    pause = threading.Event()
    while not reached():
        if time.monotonic() > end:
            raise AssertionError(f"not so after {limit:g} s: {what or reached.__name__}")
        pause.wait(0.005)
