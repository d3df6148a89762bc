"""Keys that are typed while a command runs."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Wait = Callable[[float], bool]  # seconds; True as soon as a key was typed that ends the command


@contextmanager
def until_one_of(keys: bytes) -> Iterator[Wait | None]:
    """Without Enter and without showing the keys. None where nobody can type."""
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        yield None
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield lambda seconds: _typed(terminal, keys, seconds)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _typed(terminal: int, keys: bytes, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
        read = os.read(terminal, 1024)
        if not read or any(key in keys for key in read):
            return True
    return False
