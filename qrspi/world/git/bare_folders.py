"""Folders that look like bare repositories. git would obey their config; to us they are files."""

from __future__ import annotations

import os

from qrspi.core.filenames import RUNS
from qrspi.core.named_tuple import NamedTuple

_RUNS = f"/{RUNS}/"


class Ground(NamedTuple):
    start: str  # the directory itself, or the nearest one above every such folder
    root: str | None  # the nearest directory with a `.git` that may be one


def above(directory: str) -> Ground:
    start = at = os.path.realpath(directory)
    while not _has_git(at):
        if at == "/":
            return Ground(start, None)
        # HEAD alone looks bare: objects and refs may lie elsewhere, as `commondir` says.
        if os.path.lexists(f"{at}/HEAD"):
            start = os.path.dirname(at)
        at = os.path.dirname(at)
    return Ground(start, at)


def explicit(directory: str) -> list[str]:
    """git's own search would end too early: at such a folder, or at a `.git` in the run."""
    start = os.path.realpath(directory)
    ground = above(_outside_runs(start))
    if ground.root is None or ground.start == start:
        return []
    return [f"--git-dir={ground.root}/.git", f"--work-tree={ground.root}"]


def _outside_runs(path: str) -> str:
    """The folder of runs, of whatever is in a run."""
    project, separator, _ = f"{path}/".rpartition(_RUNS)
    return f"{project}{_RUNS[:-1]}" if separator else path


def _has_git(path: str) -> bool:
    """git ignores an empty `.git` directory, and so do we."""
    place = f"{path}/.git"
    return os.path.lexists(f"{place}/HEAD") if os.path.isdir(place) else os.path.lexists(place)
