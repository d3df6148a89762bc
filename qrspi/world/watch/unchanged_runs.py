"""What the kernel said about the files that the last look at each run depended on. While it says
the same, another look would find the same. Files that changed a moment ago are not remembered."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Entry, Fault
from qrspi.world.runs import state_cache
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.state_cache import Seen
from qrspi.world.runs.workspace import Workspace
from qrspi.world.watch.watchdog_events import GIT_FILES, git_places

_ROLES = ".qrspi/agents"  # of a run, and of the project

Kernel = list[int] | None
Sighting = tuple[tuple[str, Kernel], ...]


class RecordingWorkspace(Workspace):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.began = time.time_ns()
        self.asked_for: dict[str, None] = {}

    def descriptor(self, path: str) -> int | Fault:
        self.asked_for[path] = None
        return super().descriptor(path)

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        self.asked_for[path or "."] = None
        return super().entries(path)


class Around(NamedTuple):
    """`git` matters only to runs that failed, since they may go on now."""

    repository: tuple[tuple[str, bool], ...]
    roles: Sighting | None
    git: Sighting | None

    def same_ground(self, now: Around) -> bool:
        settled = self.roles is not None and self.roles == now.roles
        return settled and self.repository == now.repository

    def same_git(self, now: Around) -> bool:
        return self.git is not None and self.git == now.git


class UnchangedRuns:
    def __init__(self, root: Root) -> None:
        self._root = root
        self._on = state_cache.is_on(root.runs_dir)
        self._of: dict[str, Seen] = {}

    def keep(self, run: RunDir, seen: RecordingWorkspace) -> None:
        """After a look. What the look wrote itself is too recent to be remembered."""
        paths = (*seen.asked_for, *_roles(run.path))
        now = state_cache.seen_now(run.path, paths, seen.began) if self._on else None
        if now is None:
            self.forget(run.name)
        else:
            self._of[run.name] = now

    def forget(self, name: str) -> None:
        self._of.pop(name, None)

    def forget_all(self) -> None:
        self._of.clear()

    def unchanged(self, run: RunDir) -> bool:
        before = self._of.get(run.name)
        return before is not None and state_cache.is_as_seen(run.path, before)

    def around(self) -> Around:
        began = time.time_ns()
        project, places = self._root.project, git_places(self._root.runs_dir)
        roles = _settled(_said(project, _roles(project)), began)
        return Around(places, roles, _settled(_said("", _git_files(places)), began))


def _said(folder: str, paths: Iterable[str]) -> Sighting:
    return tuple((path, state_cache.kernel(os.path.join(folder, path))) for path in paths)


def _settled(sighting: Sighting, began: int) -> Sighting | None:
    last = began - state_cache.SETTLED
    return sighting if all(what is None or what[-1] < last for _, what in sighting) else None


def _roles(folder: str) -> list[str]:
    """The texts that prompts are made from. Nothing else in our own folder matters."""
    try:
        names = os.listdir(f"{folder}/{_ROLES}")
    except OSError:
        names = []
    return [_ROLES, *(f"{_ROLES}/{name}" for name in names)]


def _git_files(places: tuple[tuple[str, bool], ...]) -> Iterator[str]:
    """git writes a branch by renaming, which changes its folder."""
    for place, deep in places:
        if deep:
            yield from (folder for folder, _, _ in os.walk(place))
        else:
            yield from (f"{place}/{name}" for name in sorted(GIT_FILES))
