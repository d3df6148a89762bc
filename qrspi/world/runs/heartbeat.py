"""The daemon's mark in the runs folder: a lock while it lives, and the time of its last look.

`status` only asks whether there is a daemon; only the daemon imports what writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from qrspi.core import plain_json
from qrspi.core.hints import TYPE_CHECKING, Self
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import DiskTree, closing

if TYPE_CHECKING:
    from qrspi.world.files.lock import Grip

LOCK = ".qrspi/watch.lock"
FILE = ".qrspi/heartbeat.json"

# `daemon()` holds the lock for the moment of its question.
_QUESTION = 0.2


class Daemon(NamedTuple):
    """What the daemon says about itself; empty while it has said nothing."""

    pid: int = 0
    started: str = ""
    beat: str = ""


def daemon(runs_dir: str) -> Daemon | None:
    """The daemon that watches these runs now; None when there is none."""
    tree = DiskTree(runs_dir)
    fd = tree.descriptor(LOCK)
    if isinstance(fd, Fault):
        return None
    import fcntl  # most projects have no daemon

    with closing(fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _said(tree.read(FILE, 4096))
    return None


class DaemonPlace:
    """The daemon's place at a folder of runs. It is taken again when another folder gets the
    name."""

    def __init__(self, runs_dir: str) -> None:
        from qrspi.world.machine import clock

        self._runs_dir = runs_dir
        self._now = clock.now_utc
        self._started = self._now()
        self._mark: Mark | None = None
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def keep(self) -> None:
        """Be the one daemon, or be refused; and record that we live. A folder that is gone has no
        daemon until it is back."""
        if self._mark and not self._mark.stands():
            self._held.close()
            self._mark = None
        if self._mark is None and os.path.isdir(self._runs_dir):
            self._mark = self._held.enter_context(watching(self._runs_dir, self._started))
        if self._mark:
            self._mark(self._now())


class Mark:
    """Shows that we are the one daemon of a root. Call it with the time of each look."""

    def __init__(self, runs_dir: str, grip: Grip, started: str) -> None:
        self._place = f"{runs_dir}/{LOCK}"
        self._grip, self._started = grip, started

    def __call__(self, now: str) -> None:
        from qrspi.world.files import atomic_write

        data = plain_json.dumps(Daemon(os.getpid(), self._started, now)._asdict()).encode("ascii")
        with atomic_write.reporting_errors(FILE):
            atomic_write.replace(self._grip.own, FILE.rpartition("/")[2], data + b"\n")

    def stands(self) -> bool:
        """Whether another daemon would find it: a folder that was deleted or moved away takes the
        mark with it."""
        try:
            now = os.stat(self._place, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(now, os.fstat(self._grip.file))


@contextmanager
def watching(runs_dir: str, started: str, command: str = "qrspi watch") -> Iterator[Mark]:
    """Be the one daemon of a root, as long as this lasts."""
    from qrspi.world.files import atomic_write, lock

    name = LOCK.rpartition("/")[2]
    with lock.held(runs_dir, name, _QUESTION, command, _already_watched) as grip:
        if not grip.orderly:
            with atomic_write.reporting_errors(LOCK):
                atomic_write.sweep(grip.own, 0)
        yield Mark(runs_dir, grip, started)


def _said(content: bytes | Fault) -> Daemon:
    if isinstance(content, Fault):
        return Daemon()
    try:
        said = plain_json.loads(content)
        told = Daemon(int(said["pid"]), str(said["started"]), str(said["beat"]))
    except (ValueError, RecursionError, KeyError, TypeError):
        return Daemon()
    return told if _is_past(told.started) and _is_past(told.beat) else Daemon()


def _is_past(time: str) -> bool:
    """Anybody can write the file and hold the lock; a time that is none, or is still to come, was
    not written by a daemon."""
    from qrspi.world.machine import clock

    digits = time.translate(dict.fromkeys(map(ord, "-:TZ")))
    return len(time) == 20 and len(digits) == 14 and digits.isdecimal() and time <= clock.now_utc()


def _already_watched(holder: str) -> Problem:
    return Problem(
        "busy",
        f"these runs are watched already, by {holder}: one daemon is enough",
        found=holder,
        hint="qrspi status",
    )
