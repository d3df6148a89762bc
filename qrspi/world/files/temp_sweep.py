"""Temporaries that a killed command left behind."""

from __future__ import annotations

import os
from contextlib import suppress

from qrspi.world.files.atomic_write import LEFTOVER
from qrspi.world.files.run_tree import step_into

# phases/phase-01/reviews/tasks/task-01/round-01 is the deepest folder the engine writes to.
DEEPEST = 6


def sweep(directory: int, depth: int = DEEPEST) -> None:
    """Remove them below a directory; whoever calls it holds the lock their writers would need."""
    with os.scandir(directory) as listing:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    for name, is_directory in found:
        # A folder that is gone or closed to us holds nothing that we could have left there.
        with suppress(FileNotFoundError, PermissionError):
            if is_directory and depth:
                _sweep_below(directory, name, depth)
            elif not is_directory and LEFTOVER.fullmatch(name):
                os.unlink(name, dir_fd=directory)


def _sweep_below(directory: int, name: str, depth: int) -> None:
    fd = step_into(directory, name)
    try:
        sweep(fd, depth - 1)
    finally:
        os.close(fd)
