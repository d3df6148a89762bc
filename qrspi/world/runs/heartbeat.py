"""The daemon's mark in the runs folder: a lock while it lives, and when it last looked.

`status` asks only whether there is a daemon, so what writes is imported by the daemon alone.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files.run_tree import DiskTree, opened

LOCK = ".qrspi/watch.lock"
FILE = ".qrspi/heartbeat.json"

# `daemon()` holds the lock for the moment of its question.
_QUESTION = 0.2


class Daemon(NamedTuple):
    """What the daemon says of itself; empty while it has said nothing."""

    pid: int = 0
    started: str = ""
    beat: str = ""


def daemon(runs_dir: str) -> Daemon | None:
    """The daemon that watches these runs now; None when there is none."""
    tree = DiskTree(runs_dir)
    fd = tree.descriptor(LOCK)
    if isinstance(fd, Fault):
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _said(tree.read(FILE, 4096))
    finally:
        os.close(fd)
    return None


class Mark:
    """That we are the one daemon of a root. Call it with the time of each look."""

    def __init__(self, runs_dir: str, own: int, grip: int, started: str) -> None:
        self._place = f"{runs_dir}/{LOCK}"
        self._own, self._grip, self._started = own, grip, started

    def __call__(self, now: str) -> None:
        _write(self._own, Daemon(os.getpid(), self._started, now))

    def stands(self) -> bool:
        """Whether another daemon would find it: a folder that was deleted or moved away takes
        the mark with it."""
        mine = os.fstat(self._grip)
        try:
            now = os.stat(self._place, follow_symlinks=False)
        except OSError:
            return False
        return (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino)


@contextmanager
def watching(runs_dir: str, started: str, command: str = "qrspi watch") -> Iterator[Mark]:
    """Be the one daemon of a root, as long as this lasts."""
    from qrspi.world.files import atomic_write as atomic
    from qrspi.world.files import lock
    from qrspi.world.files import temp_sweep as cleanup
    from qrspi.world.files.write_errors import worded

    with ExitStack() as stack:
        with worded(LOCK):
            runs = stack.enter_context(opened(runs_dir))
            own = stack.enter_context(atomic.below(runs, lock.OWN, make=True))
            name = LOCK.rpartition("/")[2]
            grip = stack.enter_context(lock.held(own, name, _QUESTION, command, _already_watched))
            lock.ignore_in_git(own)
            if not grip.orderly:
                cleanup.sweep(own, 0)
        yield Mark(runs_dir, own, grip.fd, started)


def _write(own: int, said: Daemon) -> None:
    import json

    from qrspi.world.files import atomic_write as atomic
    from qrspi.world.files.write_errors import worded

    name = FILE.rpartition("/")[2]
    data = json.dumps(said._asdict()).encode("ascii") + b"\n"
    with worded(FILE), atomic.temporary(own, name, data) as temp:
        atomic.put(own, temp, name)


def _said(content: bytes | Fault) -> Daemon:
    import json

    if isinstance(content, Fault):
        return Daemon()
    try:
        said = json.loads(content)
        return Daemon(int(said["pid"]), str(said["started"]), str(said["beat"]))
    except (ValueError, RecursionError, KeyError, TypeError):
        return Daemon()


def _already_watched(holder: str) -> Problem:
    return Problem(
        "busy",
        f"these runs are watched already, by {holder}: one daemon is enough",
        found=holder,
        hint="qrspi status",
    )
