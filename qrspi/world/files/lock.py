"""A kernel lock on an open file, which is free when its holder is killed. The file's text is for
people; `free` there only saves the next holder the search for temporary files."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from qrspi.core import patterns
from qrspi.core.errors import Busy, Refusal
from qrspi.core.hints import Literal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree, closing, opened

OWN = ".qrspi"
Refused = Callable[[str], Problem]
State = Literal["free", "held", "left"]

_HOLDER = r"([0-9]{1,10}) ([ -~]{1,80})\n"
FREE = b"free\n"
_LONGEST_PAUSE = 0.05
_MODE = 0o600


def ignore_in_git(own: int) -> None:
    if not atomic_write.exists(own, ".gitignore"):
        atomic_write.replace(own, ".gitignore", b"*\n")


class Grip(NamedTuple):
    folder: int
    own: int  # the folder's `.qrspi`
    file: int
    orderly: bool


@contextmanager
def held(folder: str, name: str, timeout: float, command: str, busy: Refused) -> Iterator[Grip]:
    with ExitStack() as stack:
        with atomic_write.reporting_errors(f"{OWN}/{name}"):
            root = stack.enter_context(opened(folder))
            own = stack.enter_context(atomic_write.below(root, OWN, make=True))
            fd = stack.enter_context(closing(_acquire(own, name, timeout, busy)))
            orderly = os.pread(fd, 200, 0) == FREE
            stack.enter_context(_signed(fd, command))
            ignore_in_git(own)
        yield Grip(root, own, fd, orderly)


@contextmanager
def _signed(fd: int, command: str) -> Iterator[None]:
    _sign(fd, f"{os.getpid()} {command[:80]}\n".encode("ascii", "replace"))
    try:
        yield
    except Refusal:  # then nothing is left to tidy up, either
        _sign_off(fd)
        raise
    _sign_off(fd)


def in_place(directory: int, name: str, fd: int) -> bool:
    """Whether the name still leads to the locked file: a deleted one keeps nobody out."""
    try:
        now = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(now, os.fstat(fd))


def state(tree: DiskTree, path: str) -> State:
    """The kernel knows who holds it; only a holder that released it properly wrote `free`."""
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        return "free"
    with closing(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held"
        return "free" if os.pread(fd, 8, 0) in (b"", FREE) else "left"


def take(fd: int, timeout: float, mode: int = fcntl.LOCK_EX) -> bool:
    """False if its present holder does not let go in time."""
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
        with ExitStack() as stack:
            fd = atomic_write.open_regular(own, name, os.O_RDWR | os.O_CREAT, _MODE)
            stack.callback(os.close, fd)
            _keep_to_us(fd)
            if not take(fd, timeout):
                raise Busy(busy(_holder(fd)))
            if in_place(own, name, fd):
                stack.pop_all()
                return fd


def _keep_to_us(fd: int) -> None:
    """Whoever may open a file to read it may also hold its lock, and older files are for all."""
    found = os.fstat(fd)
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) != _MODE:
        os.fchmod(fd, _MODE)


def _sign(fd: int, text: bytes) -> None:
    # In this order: where a file was truncated before it was written, ext4 flushes it at close.
    os.pwrite(fd, text, 0)
    os.ftruncate(fd, len(text))


def _sign_off(fd: int) -> None:
    with suppress(OSError):
        _sign(fd, FREE)


def _holder(fd: int) -> str:
    match = patterns.fullmatch(_HOLDER, os.pread(fd, 200, 0).decode("ascii", "replace"))
    return f"process {match[1]} ({match[2]})" if match else "another process"
