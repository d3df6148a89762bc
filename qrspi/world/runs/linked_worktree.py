"""Which work tree a run lives in, seen from a linked one. The linked one has a copy of the run, and
anything written there would be lost."""

from __future__ import annotations

import os

from qrspi.core.filenames import RUNS, WORKTREES
from qrspi.world.runs import project_search


def home(start: str, *, for_new: bool = False) -> str:
    """Where a search for the project begins: `start` itself, or, in a linked work tree, the folder
    that it is a copy of. A work tree with a run that the main one does not have is its own project.
    A new run begins wherever its person stands, but never in the work tree of a task."""
    top = project_search.top(start)
    shared = _shared(top) if top else None
    if top is None or shared is None:
        return start
    inside = start[len(top) :]
    if around := _around(top, shared):
        return home(around + inside, for_new=for_new)
    main = os.path.dirname(shared) if shared.endswith("/.git") else ""
    if for_new or main in ("", top):
        return start
    return start if _has_own(start, top, main) else main + inside


def _shared(top: str) -> str | None:
    """The directory that all work trees of a repository share. Both ends must say so: a `.git` that
    names a repository which does not know it is not followed."""
    place = f"{top}/.git"
    if os.path.isdir(place):
        return os.path.realpath(place)
    own = os.path.realpath(os.path.join(top, _line(place).removeprefix("gitdir: ")))
    back = os.path.realpath(os.path.join(own, _line(f"{own}/gitdir")))
    if not _line(place).startswith("gitdir: ") or back != os.path.realpath(place):
        return None
    return os.path.realpath(os.path.join(own, _line(f"{own}/commondir")))


def _around(top: str, shared: str) -> str:
    """The work tree of the same repository in whose folder of work trees this one lies."""
    outer, found, _ = top.rpartition(f"/{WORKTREES}/")
    return outer if found and outer and _shared(outer) == shared else ""


def _has_own(start: str, top: str, main: str) -> bool:
    """Whether the nearest project here has the folder of a run that the main one does not have."""
    found = (at for at in project_search.candidates(start) if os.path.isdir(f"{at}/{RUNS}"))
    here = next(found, None)
    if here is None:
        return False
    return bool(_folders(f"{here}/{RUNS}") - _folders(f"{main}{here[len(top) :]}/{RUNS}"))


def _folders(path: str) -> frozenset[str]:
    try:
        with os.scandir(path) as listing:
            visible = (entry for entry in listing if not entry.name.startswith("."))
            return frozenset(entry.name for entry in visible if entry.is_dir())
    except OSError:
        return frozenset()


def _line(path: str) -> str:
    """The text of one of git's small files; '' when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(4096)).rstrip("\r\n")
    except OSError:
        return ""
