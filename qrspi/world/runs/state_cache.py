"""States of runs that have not changed since they were derived: a faster way to the same answer.

An entry holds a state. For every file and folder that the state depends on, it also holds what the
kernel says: inode, size, and the time of the last change of any kind (`touch` cannot set that time
back, and a file from a clone cannot know it). While all of these are the same, so is the content,
unless it changed within one tick of the clock. Therefore nothing that changed a moment ago is kept.
Neither is anything that could not be read: the disk may work next time although no file has
changed.

Entries lie with the user's own files and never in a project, where an agent could write any state
for any run. All of them are read and written at once, as Python writes values: JSON would take ten
times as long. A sum stands before them, since what a disk has damaged must not be read like that.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from zlib import crc32

import qrspi
from qrspi.core import digest
from qrspi.core.derivation import state_values
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.named_tuple import NamedTuple, bare
from qrspi.core.tree import Fault
from qrspi.world.files import mounts
from qrspi.world.files.run_tree import ROOT_FLAGS, DiskTree, opened
from qrspi.world.processes import forked_work

if TYPE_CHECKING:
    from qrspi.core.model import RunState
    from qrspi.core.recording_tree import Observation
    from qrspi.world.runs.locate import RunDir

SWITCH = "QRSPI_CACHE"  # `off`: every state is derived
LIMIT = 256 * 1024 * 1024
SETTLED = 2_000_000_000  # nanoseconds: the coarsest clock of a file system, FAT's


class Seen(NamedTuple):
    """What the kernel said of a run's files and folders."""

    there: str = ""  # paths between NULs
    said: bytes = b""  # inode, size, time of change of each; without any it is not kept
    absent: str = ""  # paths too


class Entry(NamedTuple):
    state: Any
    steps: bool  # whether the state has them
    there: str = ""  # as `Seen` has it; the first is the run itself
    said: bytes = b""
    absent: str = ""


class StateCache:
    """For one folder of runs. `is_unchanged` or `entry`, then `keep` for each run, then `save`
    once."""

    def __init__(self, runs_dir: str, *, in_git: bool, now: int) -> None:
        self._file = file(runs_dir)
        self._now = now
        self._key = _key(in_git)
        self._old = _load(self._file, self._key)
        self._new: dict[str, Any] = {}
        self._same: dict[str, str] = {}  # equal texts are written once

    def knows(self, runs: Iterable[RunDir]) -> bool:
        """Whether it has an entry for each."""
        return all(run.name in self._old for run in runs)

    def is_unchanged(self, run: RunDir, *, steps: bool) -> bool:
        try:
            _, with_steps, *seen = self._old[run.name]
            return with_steps >= steps and _is_unchanged(run.path, Seen(*seen))
        except (KeyError, TypeError, ValueError):
            return False

    def state(self, run: RunDir, *, steps: bool) -> RunState | None:
        """Of a run that is unchanged."""
        self._new[run.name] = self._old[run.name]
        return state_values.load(self._old[run.name][0], steps=steps)

    def find(self, run: RunDir, *, steps: bool) -> RunState | None:
        return self.state(run, steps=steps) if self.is_unchanged(run, steps=steps) else None

    def entry(
        self, run: RunDir, state: RunState, seen: Iterable[Observation], *, steps: bool
    ) -> Entry:
        looked_at = tuple(seen)
        failed = any(error.code == "bug" for error in state.errors)
        if failed or any(one.found == "unreadable" for one in looked_at):
            return Entry(state, steps)
        return Entry(state, steps, *(seen_now(run.path, _with_folders(looked_at), self._now) or ()))

    def keep(self, run: RunDir, entry: Entry) -> None:
        if entry.said:
            there = self._same.setdefault(entry.there, entry.there)
            self._new[run.name] = bare(entry._replace(there=there))

    def save(self) -> None:
        """If it cannot be written, as on a read-only disk, the next `status` derives again."""
        if self._new == self._old:
            return
        entries = marshal.dumps(self._new)
        with suppress(OSError, ValueError):
            _write(self._file, seal(self._key, entries) + entries)


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
    if cache is None or not cache.knows(runs):
        _prepare()
    look = partial(_look, cache, in_git=in_git, steps=steps)
    found = forked_work.each(look, runs, telling(runs))
    pairs = zip(runs, found, strict=True)
    derived = [_state(cache, run, one, in_git=in_git, steps=steps) for run, one in pairs]
    if cache:
        cache.save()
    return derived


def _prepare() -> None:
    """Before the children are forked, each of which would do it. A look at runs that are all
    unchanged does without."""
    from qrspi.core.derivation import derive  # noqa: F401

    digest.expect_much()
    # By a large block that was freed, glibc learns to keep what is free. It would hand the texts of
    # a run back to the kernel, and have the same memory cleared anew for those of the next.
    bytes(1024 * 1024)


def _look(cache: StateCache | None, run: RunDir, *, in_git: bool, steps: bool) -> Entry | None:
    """None where its entry still holds."""
    if cache and cache.is_unchanged(run, steps=steps):
        return None
    return _derived(cache, run, in_git=in_git, steps=steps)


def _derived(cache: StateCache | None, run: RunDir, *, in_git: bool, steps: bool) -> Entry:
    from qrspi.core.derivation.derive import derive_among
    from qrspi.core.recording_tree import RecordingTree
    from qrspi.world.runs.committed_tree import CommittedTree

    tree = CommittedTree(run.path, in_git, glance=True)
    if cache is None:
        return Entry(derive_among(tree, steps=steps), steps)
    recording = RecordingTree(tree)
    state = derive_among(recording, steps=steps)
    return cache.entry(run, state, recording.seen, steps=steps)


def _state(
    cache: StateCache | None, run: RunDir, found: Any, *, in_git: bool, steps: bool
) -> RunState:
    """Of what a look gave, here or in a child."""
    if found is None and cache and (state := cache.state(run, steps=steps)):
        return state
    entry = Entry(*found) if found else _derived(cache, run, in_git=in_git, steps=steps)
    if cache:
        cache.keep(run, entry)
    state = entry.state if hasattr(entry.state, "_fields") else state_values.load(entry.state)
    assert state is not None, "a child has sent what is no state"
    return state


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


def seen_now(folder: str, paths: Iterable[str], now: int) -> Seen | None:
    """None where any of it changed a moment ago."""
    known = {path: kernel(f"{folder}/{path}") for path in paths}
    there = {path: what[1:] for path, what in known.items() if what}
    if any(what[-1] >= now - SETTLED for what in there.values()):
        return None
    said = _packed([number for what in there.values() for number in what])
    absent = "\0".join(path for path, what in known.items() if what is None)
    return Seen("\0".join(there), said, absent) if said or not there else None


def _is_unchanged(run: str, seen: Seen) -> bool:
    """An entry without files could not be found wrong, so it must begin with the run's folder."""
    try:
        return seen.there.partition("\0")[0] == "." and is_as_seen(run, seen)
    except (ValueError, TypeError, AttributeError):
        return False


def is_as_seen(folder: str, seen: Seen) -> bool:
    try:
        place = os.open(folder, ROOT_FLAGS)  # the kernel has a fifth less to do from here
    except OSError:
        return False
    try:
        same = _packed(_said(place, _paths(seen.there))) == seen.said
        return same and not (seen.absent and any(_exists(place, seen.absent)))
    except OSError:
        return False
    finally:
        os.close(place)


@lru_cache(maxsize=16)
def _paths(text: str) -> list[str]:
    """Many runs depend on files of the same names."""
    return text.split("\0") if text else []


def _exists(place: int, paths: str) -> Iterator[bool]:
    for path in paths.split("\0"):
        yield os.access(path, os.F_OK, dir_fd=place, follow_symlinks=False)


def _said(place: int, paths: Iterable[str]) -> list[int]:
    stat, said = os.stat, list[int]()  # this is the hot loop of a second `status --all`
    for path in paths:
        found = stat(path, dir_fd=place, follow_symlinks=False)
        said += found.st_ino, found.st_size, found.st_ctime_ns
    return said


def _packed(numbers: list[int]) -> bytes:
    """Nothing for a time before 1970, which nobody keeps."""
    try:
        return array("Q", numbers).tobytes()
    except OverflowError:
        return b""


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


def _key(in_git: bool) -> str:
    """Who looks, by which code, and how the entries are written."""
    python = (sys.implementation.cache_tag, sys.byteorder, array("Q").itemsize, marshal.version)
    who = (os.geteuid(), *sorted(os.getgroups()))
    return repr((qrspi.__version__, *_code(), python, who, in_git))


def _code() -> tuple[int, int]:
    """Other code or tables may derive another state: how many files there are, and when the newest
    changed. Folders beside the tables hold texts, by which nothing is derived."""
    package = os.path.dirname(qrspi.__file__)
    times, folders = list[int](), [(f"{package}/data", False), (f"{package}/core", True)]
    while folders:
        folder, deep = folders.pop()
        with os.scandir(folder) as listing:
            for entry in listing:
                if not entry.is_dir():
                    times.append(entry.stat().st_mtime_ns)
                elif deep and entry.name != "__pycache__":
                    folders.append((entry.path, True))
    return len(times), max(times)


def file(runs_dir: str) -> str:
    """A relative XDG_CACHE_HOME is ignored, as its specification says."""
    said = os.environ.get("XDG_CACHE_HOME", "")
    home = said if said.startswith("/") else os.path.expanduser("~/.cache")
    name = digest.sha256(os.fsencode(os.path.realpath(runs_dir))).hexdigest()
    return f"{home.rstrip('/')}/qrspi/states/{name}"


def _load(path: str, key: str) -> dict[str, Any]:
    folder, _, name = path.rpartition("/")
    if not (_is_only_ours(folder) and _is_only_ours(path)):
        return {}
    content = DiskTree(folder).read(name, LIMIT)
    if isinstance(content, Fault):
        return {}
    entries = memoryview(content)[content.find(b"\n") + 1 :]
    if not content.startswith(seal(key, entries)):
        return {}
    try:
        found = marshal.loads(entries)
    except (EOFError, ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def seal(key: str, entries: bytes | memoryview) -> bytes:
    """The line before the entries."""
    return f"{key} {crc32(entries)}\n".encode()


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
