"""States of runs that have not changed since they were derived: a faster way to the same answer.

An entry holds a state. For every file and folder that the state depends on, it also holds what the
kernel says: inode, size, and the time of the last change of any kind (`touch` cannot set that time
back, and a file from a clone cannot know it). While all of these are the same, so is the content,
unless it changed within one tick of the clock. Therefore nothing that changed a moment ago is kept.
Neither is anything that could not be read: the disk may work next time although no file has
changed.

Entries lie with the user's own files and never in a project, where an agent could write any state
for any run.
"""

from __future__ import annotations

import hashlib
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
from qrspi.core.model import RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.recording_tree import RecordingTree, Seen
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
    """For one folder of runs. `find` and `keep`, then `save` once."""

    def __init__(self, runs_dir: str, *, in_git: bool, now: int) -> None:
        self._file = file(runs_dir)
        self._now = now
        self._key = [qrspi.__version__, _code(), in_git, os.geteuid(), *sorted(os.getgroups())]
        self._old = _load(self._file, self._key)
        self._new: dict[str, Entry] = {}

    def find(self, run: RunDir, *, steps: bool) -> RunState | None:
        entry = self._old.get(run.name)
        if entry is None or (steps and not entry.steps) or not _is_unchanged(run.path, entry):
            return None
        state = state_json.load(entry.state, steps=steps)
        if state:
            self._new[run.name] = entry
        return state

    def entry(self, run: RunDir, state: RunState, seen: Iterable[Seen], *, steps: bool) -> Entry:
        """Without files where the state may not be kept."""
        looked_at = tuple(seen)
        unkept = Entry(steps, [], [], state)
        if any(one.found == "unreadable" for one in looked_at):
            return unkept
        said = {path: kernel(f"{run.path}/{path}") for path in _with_folders(looked_at)}
        there: list[list[Any]] = [[path, *what[1:]] for path, what in said.items() if what]
        if any(one[-1] >= self._now - SETTLED for one in there):
            return unkept
        return Entry(steps, there, [path for path, what in said.items() if what is None], state)

    def keep(self, run: RunDir, entry: Entry) -> None:
        if entry.there:
            self._new[run.name] = entry

    def save(self) -> None:
        """If it cannot be written, as on a read-only disk, the next `status` derives again."""
        if self._new == self._old:
            return
        document = {"key": self._key, "runs": self._new}
        with suppress(OSError, ValueError):
            _write(self._file, json.dumps(document).encode("ascii"))


def states(
    runs_dir: str,
    runs: Sequence[RunDir],
    *,
    in_git: bool,
    steps: bool,
    telling: Callable[[Sequence[RunDir]], Iterable[RunDir]] = iter,
) -> list[RunState]:
    """In the order of the runs, without their paths. `telling` counts those that are read."""
    cache = None
    if is_on(runs_dir):
        cache = StateCache(runs_dir, in_git=in_git, now=time.time_ns())
    found = {run: cache.find(run, steps=steps) if cache else None for run in runs}
    changed = [run for run, state in found.items() if state is None]
    look = partial(_look, cache, in_git=in_git, steps=steps)
    for run, values in zip(changed, forked_work.each(look, changed, telling(changed)), strict=True):
        entry = Entry(*values)
        is_ours = isinstance(entry.state, RunState)  # and was not read by a child
        found[run] = entry.state if is_ours else state_json.load(entry.state)
        if cache:
            cache.keep(run, entry)
    if cache:
        cache.save()
    return [state for state in found.values() if state]


def _look(cache: StateCache | None, run: RunDir, *, in_git: bool, steps: bool) -> Entry:
    tree = CommittedTree(run.path, in_git, glance=True)
    if cache is None:
        return Entry(steps, [], [], derive(tree, thorough=False, steps=steps))
    recording = RecordingTree(tree)
    state = derive(recording, thorough=False, steps=steps)
    return cache.entry(run, state, recording.seen, steps=steps)


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


def _with_folders(seen: Iterable[Seen]) -> dict[str, None]:
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
    name = hashlib.sha256(os.fsencode(os.path.realpath(runs_dir))).hexdigest()
    return f"{home.rstrip('/')}/qrspi/states/{name}.json"


def _load(path: str, key: list[Any]) -> dict[str, Entry]:
    folder, _, name = path.rpartition("/")
    if not (_is_only_ours(folder) and _is_only_ours(path)):
        return {}
    content = DiskTree(folder).read(name, LIMIT)
    if isinstance(content, Fault):
        return {}
    try:
        document = json.loads(content)
        if document["key"] != key:
            return {}
        return {name: Entry(*entry) for name, entry in document["runs"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
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
