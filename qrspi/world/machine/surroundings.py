"""The machine and the folder that runs live on, as far as the engine depends on them."""

from __future__ import annotations

import fcntl
import os
import platform
from typing import Literal

from qrspi.core.tree import Fault
from qrspi.world.files.atomic_write import LEFTOVER
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import command as git

LockState = Literal["free", "held", "left"]


def python_version() -> str:
    return platform.python_version()


def git_version() -> str:
    """Halts with the reason when git cannot be run."""
    said = git.read("/", ["version"]).out.decode("utf-8", "replace").strip()
    return said.removeprefix("git version ")


def is_writable(folder: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def lock_state(tree: DiskTree, path: str) -> LockState:
    """Whether a process holds the lock, or one was killed that did. The kernel knows the first;
    only a holder that let go in good order wrote `free`."""
    fd = tree.descriptor(path)
    if isinstance(fd, Fault):
        return "free"
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return "free" if os.pread(fd, 8, 0) in (b"", b"free\n") else "left"
    except BlockingIOError:
        return "held"
    finally:
        os.close(fd)


def leftovers(tree: DiskTree, folder: str = "", depth: int = 8) -> list[str]:
    """Temporaries of commands that were killed."""
    entries = tree.entries(folder)
    found = []
    for entry in () if isinstance(entries, Fault) else entries:
        path = f"{folder}/{entry.name}".lstrip("/")
        if LEFTOVER.fullmatch(entry.name):
            found.append(path)
        elif entry.kind == "dir" and depth:
            found += leftovers(tree, path, depth - 1)
    return found
