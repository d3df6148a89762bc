"""States of runs that have not changed since they were derived: a faster way to the same answer.

An entry holds a state. For every file and folder that the state depends on, it also holds what the
kernel says: inode, size, and the time of the last change of any kind (`touch` cannot set that time
back, and a file from a clone cannot know it). While all of these are the same, so is the content,
unless it changed within one tick of the clock. Therefore nothing that changed a moment ago is kept.
Neither is anything that could not be read: the disk may work next time although no file has
changed.

Entries lie with the user's own files and never in a project, where an agent could write any state
for any run. Each is a line of its own, which is parsed by the process that looks at the run.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import qrspi
from qrspi.core.derivation import state_json
from qrspi.core.derivation.derive import derive
from qrspi.core.digest import sha256
from qrspi.core.model import RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.recording_tree import Observation, RecordingTree
from qrspi.core.tree import Fault
from qrspi.world.files import mounts
from qrspi.world.files.run_tree import DiskTree, opened
from qrspi.world.processes import forked_work
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import RunDir

SWITCH = "QRSPI_CACHE"  # `off`: every state is derived
LIMIT = 256 * 1024 * 1024
SETTLED = 2_000_000_000  # nanoseconds: the coarsest clock of a file system, FAT's


class Entry(NamedTuple):
    steps: bool  # whether the state has them
    there: list[list[Any]]  # path, inode, size, time of change; the first is the run itself
    absent: list[str]
    state: Any  # as JSON


class StateCache:
    """For one folder of runs. `find` or `entry`, then `keep` for each run, then `save` once."""

    def __init__(self, runs_dir: str, *, in_git: bool, now: int) -> None:
        self._file = file(runs_dir)
        self._now = now
        self._key = [qrspi.__version__, _code(), in_git, os.geteuid(), *sorted(os.getgroups())]
        self._old = _load(self._file, self._key)
        self._new: dict[str, str] = {}

    def find(self, run: RunDir, *, steps: bool) -> RunState | None:
        try:
            entry = Entry(*json.loads(self._old[json.dumps(run.name)]))
        except (KeyError, ValueError, TypeError, RecursionError):
            return None
        if (steps and not entry.steps) or not _is_unchanged(run.path, entry):
            return None
        return state_json.load(entry.state, steps=steps)

    def entry(
        self, run: RunDir, state: RunState, seen: Iterable[Observation], *, steps: bool
    ) -> str | None:
        """None where the state may not be kept."""
        looked_at = tuple(seen)
        if any(one.found == "unreadable" for one in looked_at):
            return None
        said = {path: kernel(f"{run.path}/{path}") for path in _with_folders(looked_at)}
        there: list[list[Any]] = [[path, *what[1:]] for path, what in said.items() if what]
        if not there or any(one[-1] >= self._now - SETTLED for one in there):
            return None
        absent = [path for path, what in said.items() if what is None]
        return json.dumps(Entry(steps, there, absent, state))

    def keep(self, run: RunDir, entry: str | None) -> None:
        """What it had where the entry is empty."""
        name = json.dumps(run.name)
        if entry is not None:
            self._new[name] = entry or self._old[name]

    def save(self) -> None:
        """If it cannot be written, as on a read-only disk, the next `status` derives again."""
        if self._new == self._old:
            return
        lines = [json.dumps(self._key), *map("\t".join, self._new.items())]
        with suppress(OSError, ValueError):
            _write(self._file, "\n".join(lines).encode("ascii"))


class Look(NamedTuple):
    state: Any  # as JSON, where a child has looked
    kept: str | None  # for `StateCache.keep`


def states(
    runs_dir: str,
    runs: Sequence[RunDir],
    *,
    in_git: bool,
    steps: bool,
    telling: Callable[[Sequence[RunDir]], Iterable[RunDir]] = iter,
) -> list[RunState]:
    """In the order of the runs, without their paths. `telling` counts them."""
    cache = None
    if is_on(runs_dir):
        cache = StateCache(runs_dir, in_git=in_git, now=time.time_ns())
    look = partial(_look, cache, in_git=in_git, steps=steps)
    found = [Look(*values) for values in forked_work.each(look, runs, telling(runs))]
    if cache:
        for run, one in zip(runs, found, strict=True):
            cache.keep(run, one.kept)
        cache.save()
    states = (
        one.state if isinstance(one.state, RunState) else state_json.load(one.state)
        for one in found
    )
    return [state for state in states if state]


def _look(cache: StateCache | None, run: RunDir, *, in_git: bool, steps: bool) -> Look:
    if cache and (state := cache.find(run, steps=steps)):
        return Look(state, "")
    tree = CommittedTree(run.path, in_git, glance=True)
    if cache is None:
        return Look(derive(tree, thorough=False, steps=steps), None)
    recording = RecordingTree(tree)
    state = derive(recording, thorough=False, steps=steps)
    return Look(state, cache.entry(run, state, recording.seen, steps=steps))


def is_on(runs_dir: str) -> bool:
    """Not where another machine may change files and our kernel learns of it late."""
    return os.environ.get(SWITCH) != "off" and mounts.gives_events(runs_dir)


def kernel(path: str) -> list[int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    # The kind is part of the inode; the time of change covers everything else that can change.
    return [stat.S_IFMT(found.st_mode), found.st_ino, found.st_size, found.st_ctime_ns]


def _is_unchanged(run: str, entry: Entry) -> bool:
    """An entry without files could not be found wrong, so it must begin with the run's folder."""
    try:
        with opened(run) as place:  # from here the kernel has a fifth less to do for each file
            if not _are_as_kept(place, entry.there):
                return False
        named = entry.there[0][0] == "."
        return named and not any(os.path.lexists(f"{run}/{path}") for path in entry.absent)
    except (OSError, ValueError, TypeError, IndexError):
        return False


def _are_as_kept(place: int, there: list[list[Any]]) -> bool:
    stat = os.stat  # this is the hot loop of a second `status --all`
    for path, inode, size, changed in there:
        found = stat(path, dir_fd=place, follow_symlinks=False)
        if found.st_ctime_ns != changed or found.st_ino != inode or found.st_size != size:
            return False
    return True


def _with_folders(seen: Iterable[Observation]) -> dict[str, None]:
    """With the folders on the way: a folder that became a link leads to the same files, and is not
    followed. A folder of the run itself cannot be swapped without a change of the run."""
    paths = {".": None}
    for one in seen:
        folder = one.path.rpartition("/")[0]
        while "/" in folder:
            paths[folder] = None
            folder = folder.rpartition("/")[0]
        paths[one.path] = None
    return paths


def _code() -> list[int]:
    """Other code or tables may derive another state: how many files there are, and when the newest
    changed."""
    package = os.path.dirname(qrspi.__file__)
    times: list[int] = []
    for folder in ("core", "data"):
        for place, _, names in os.walk(f"{package}/{folder}"):
            if not place.endswith("__pycache__"):
                times += [os.stat(f"{place}/{name}").st_mtime_ns for name in names]
    return [len(times), max(times)]


def file(runs_dir: str) -> str:
    """A relative XDG_CACHE_HOME is ignored, as its specification says."""
    said = os.environ.get("XDG_CACHE_HOME", "")
    home = said if said.startswith("/") else os.path.expanduser("~/.cache")
    name = sha256(os.fsencode(os.path.realpath(runs_dir))).hexdigest()
    return f"{home.rstrip('/')}/qrspi/states/{name}.json"


def _load(path: str, key: list[Any]) -> dict[str, str]:
    """The entries by name, each still as it was written."""
    folder, _, name = path.rpartition("/")
    if not (_is_only_ours(folder) and _is_only_ours(path)):
        return {}
    content = DiskTree(folder).read(name, LIMIT)
    if isinstance(content, Fault):
        return {}
    try:
        first, *lines = content.decode("ascii").split("\n")
        if json.loads(first) != key:
            return {}
        return {name: entry for name, _, entry in (line.partition("\t") for line in lines)}
    except (ValueError, RecursionError):
        return {}


def _is_only_ours(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write(path: str, data: bytes) -> None:
    from qrspi.world.files import atomic_write

    folder, _, name = path.rpartition("/")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with opened(folder) as place:
        atomic_write.replace(place, name, data, 0o600)
