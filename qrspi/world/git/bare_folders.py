"""Folders that look like bare repositories. git would take one for the repository and obey its
config. To us they are files, and the repository is the one that an ancestor's `.git` names."""

from __future__ import annotations

import os

from qrspi.core.named_tuple import NamedTuple


class Ground(NamedTuple):
    """Where git can be asked about a directory without finding such a folder on its way up."""

    start: str  # the directory itself, or the nearest one above every such folder
    root: str | None  # the nearest directory with a `.git` that may be one


def looks_bare(path: str) -> bool:
    """HEAD alone is enough: objects and refs may lie elsewhere, as `commondir` says."""
    return os.path.lexists(f"{path}/HEAD")


def above(directory: str) -> Ground:
    start = at = os.path.realpath(directory)
    while not _has_git(at):
        if at == "/":
            return Ground(start, None)
        if looks_bare(at):
            start = os.path.dirname(at)
        at = os.path.dirname(at)
    return Ground(start, at)


def explicit(directory: str) -> list[str]:
    """Options that name the repository to git, where git's own search would end too early."""
    ground = above(directory)
    if ground.root is None or ground.start == os.path.realpath(directory):
        return []
    return [f"--git-dir={ground.root}/.git", f"--work-tree={ground.root}"]


def _has_git(path: str) -> bool:
    """git ignores an empty `.git` directory, and so do we."""
    place = f"{path}/.git"
    return os.path.lexists(f"{place}/HEAD") if os.path.isdir(place) else os.path.lexists(place)
