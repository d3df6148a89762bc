"""A kernel lock on an open file.

The lock is the descriptor's, so a killed holder frees it. What stands in the file is for people;
whether the lock is free is asked of the kernel alone. The word `free` there only spares the next
holder the search for a killed one's temporaries.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from qrspi.core.errors import Busy, Refusal
from qrspi.core.model import Problem
from qrspi.world.files import atomic_write as atomic

OWN = ".qrspi"
Refused = Callable[[str], Problem]

_HOLDER = re.compile(r"(\d{1,10}) ([ -~]{1,80})\n")
FREE = b"free\n"
_LONGEST_PAUSE = 0.05


def ignore_in_git(own: int) -> None:
    if not atomic.exists(own, ".gitignore"):
        with atomic.temporary(own, ".gitignore", b"*\n") as temp:
            atomic.put(own, temp, ".gitignore")


class Grip(NamedTuple):
    """A lock that is held, and whether its last holder let go of it in good order."""

    fd: int
    orderly: bool


@contextmanager
def held(own: int, name: str, timeout: float, command: str, busy: Refused) -> Iterator[Grip]:
    """Hold a lock file; `busy` words the refusal, given the holder's name."""
    fd = _acquire(own, name, timeout, busy)
    try:
        orderly = os.pread(fd, 200, 0) == FREE
        _sign(fd, f"{os.getpid()} {command[:80]}\n".encode("ascii", "replace"))
        try:
            yield Grip(fd, orderly)
        except Refusal:  # nothing is left lying about then, either
            _sign_off(fd)
            raise
        _sign_off(fd)
    finally:
        os.close(fd)


def in_place(directory: int, name: str, fd: int) -> bool:
    """Whether the name still leads to the locked file: one that was deleted keeps nobody out."""
    mine = os.fstat(fd)
    try:
        now = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino)


def take(fd: int, timeout: float, mode: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file or directory, waiting for whoever has it."""
    deadline, pause = time.monotonic() + timeout, 0.001
    while True:
        try:
            fcntl.flock(fd, mode | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE)


def _acquire(own: int, name: str, timeout: float, busy: Refused) -> int:
    while True:
        with ExitStack() as opened:
            fd = atomic.open_regular(own, name, os.O_RDWR | os.O_CREAT)
            opened.callback(os.close, fd)
            if not take(fd, timeout):
                raise Busy(busy(_holder(fd)))
            if in_place(own, name, fd):
                opened.pop_all()
                return fd


def _sign(fd: int, text: bytes) -> None:
    # In this order: ext4 writes a file that was emptied first to the disk when it is closed.
    os.pwrite(fd, text, 0)
    os.ftruncate(fd, len(text))


def _sign_off(fd: int) -> None:
    with suppress(OSError):
        _sign(fd, FREE)


def _holder(fd: int) -> str:
    match = _HOLDER.fullmatch(os.pread(fd, 200, 0).decode("ascii", "replace"))
    return f"process {match[1]} ({match[2]})" if match else "another process"
