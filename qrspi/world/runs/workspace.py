"""The one place that writes into a run.

Every method leaves whole files only, and works below the descriptor of the run's directory, so that
neither a symlink nor a moved directory can redirect a write.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from qrspi.core.config import reader as configs
from qrspi.core.errors import Halt, Refusal
from qrspi.core.hints import Self
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import CONFIG_LIMIT, Fault
from qrspi.world.files import atomic_write, json_log, lock
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.files.run_tree import closing
from qrspi.world.runs.committed_tree import CommittedTree

LOCK = f"{lock.OWN}/lock"


class Change(NamedTuple):
    """What a command did to one file, for its audit line. None: the file was not there."""

    path: str
    before: str | None  # sha256
    after: str | None
    moved_to: str = ""


class Workspace(CommittedTree):
    """A run that may be changed, inside `locked()`."""

    def __init__(self, path: str | os.PathLike[str], in_git: bool | None = None) -> None:
        super().__init__(path, in_git)
        self.changes: list[Change] = []
        self._root = self._lock = -1
        self._orderly = False  # whether the last holder of the run was not killed
        self._is_whole = False  # whether git was asked if a record lost a line

    @property
    def in_git(self) -> bool:
        """Asked exactly: code that writes also commits, and a `.git` alone is no work tree."""
        if self._in_git is None:
            self._in_git = self.repository is not None
        return self._in_git

    @property
    def decides(self) -> bool:
        return True

    @property
    def at_rest(self) -> bool:
        """Whether nobody holds the run, and no killed command left anything to clean up."""
        said = self.read(LOCK, 200)
        free = said in (lock.FREE, Fault("absent"))
        return free or not os.access(f"{self.path}/{LOCK}", os.W_OK)

    @contextmanager
    def locked(self, timeout: float = 10.0, command: str = "qrspi") -> Iterator[Self]:
        """Hold the run. Only the lock file is written before it is held; what was read earlier must
        be read again inside."""
        if self._root >= 0:
            raise RuntimeError("the run is already locked here")
        busy = partial(_busy, self.name, timeout)
        with lock.held(self.path, "lock", timeout, command, busy) as grip:
            self._root, self._lock, self._orderly = grip.folder, grip.file, grip.orderly
            try:
                if not grip.orderly:
                    with reporting_errors(LOCK):
                        atomic_write.sweep(self._root)
                if foreign := configs.foreign(self.read("config.md", CONFIG_LIMIT)):
                    raise Refusal(foreign)
                self.changes = []
                self._is_whole = False
                yield self
            finally:
                self._root = self._lock = -1

    def write(self, path: str, data: bytes) -> bool:
        """Write a file of the engine's own; False when it already had these bytes."""
        with self._place(path) as (directory, name):
            now = atomic_write.present(directory, name)
            after = atomic_write.sha256(data)
            if now and now.sha == after:
                if not self._orderly:
                    _sync_both(directory, name)
                return False
            _respect_read_only(directory, name, now)
            atomic_write.replace(directory, name, data, now and now.mode)
            self._note(path, now and now.sha, after)
            return True

    def replace(self, path: str, old: bytes, new: bytes) -> None:
        """Change a file that people or agents edit too, only if it still has the bytes that the new
        ones were made from."""
        before = atomic_write.sha256(old)
        with self._place(path) as (directory, name):
            now = _unchanged(path, atomic_write.present(directory, name), before)
            _respect_read_only(directory, name, now)
            with atomic_write.temporary(directory, name, new, now.mode) as temp:
                _unchanged(path, atomic_write.present(directory, name), before)
                atomic_write.put(directory, temp, name)
            self._note(path, before, atomic_write.sha256(new))

    def create(self, path: str, data: bytes) -> None:
        """Create a file; nothing may have its name."""
        with self._place(path) as (directory, name):
            try:
                with atomic_write.temporary(directory, name, data) as temp:
                    atomic_write.put_new(directory, temp, name)
            except FileExistsError:
                raise Refusal(_already_there(path)) from None
            self._note(path, None, atomic_write.sha256(data))

    def create_all(self, folder: str, files: Mapping[str, bytes]) -> frozenset[str]:
        """Create many files in one folder and sync it once. Gives the names that were taken."""
        taken: set[str] = set()
        if not files:
            return frozenset()
        with self._place(f"{folder}/{next(iter(files))}") as (directory, _):
            for name, data in files.items():
                _check_path(f"{folder}/{name}")
                try:
                    with atomic_write.temporary(directory, name, data) as temp:
                        atomic_write.link_new(directory, temp, name)
                except FileExistsError:
                    taken.add(name)
                else:
                    self._note(f"{folder}/{name}", None, atomic_write.sha256(data))
            atomic_write.sync(directory)
        return frozenset(taken)

    def append(self, path: str, lines: bytes) -> tuple[Problem, ...]:
        """Add whole lines to a log. The problems are about the line that was its last before."""
        with self._place(path) as (directory, name):
            before = self._hash(path, directory, name)
            problems = json_log.append(directory, name, lines, path)
            self._note(path, before, self._hash(path, directory, name))
            return problems

    def settle(self, path: str) -> None:
        """Complete and sync the last line of a log that a killed command may have written."""
        with self._place(path) as (directory, name):
            before = self._hash(path, directory, name)
            json_log.settle(directory, name)
            after = self._hash(path, directory, name)
            if after != before:
                self._note(path, before, after)

    def take_up(self, path: str, before: str, after: str) -> None:
        """Answer for the end of a log that a killed command wrote: hashes without and with it."""
        with self._place(path) as (directory, name):
            _sync_both(directory, name)
            self._note(path, before or None, after)

    def remove(self, path: str) -> bool:
        """Delete a regular file; False when there is none."""
        try:
            with self._place(path, make=False) as (directory, name):
                now = atomic_write.present(directory, name)
                os.unlink(name, dir_fd=directory)
                atomic_write.sync(directory)
        except FileNotFoundError:
            return False
        self._note(path, now and now.sha, None)
        return True

    def move(self, source: str, target: str) -> bool:
        """Rename a file or a directory to a free name. False when the source is absent, as after a
        command that was killed just after the move."""
        try:
            with self._place(source, make=False) as (old, name):
                os.stat(name, dir_fd=old, follow_symlinks=False)
                self._move_to(target, old, name)
        except FileNotFoundError:
            return False
        self.changes.append(Change(source, None, None, target))
        return True

    def _move_to(self, target: str, old: int, name: str) -> None:
        with self._place(target) as (new, to):
            if atomic_write.exists(new, to):
                raise Refusal(_already_there(target))
            os.rename(name, to, src_dir_fd=old, dst_dir_fd=new)
            atomic_write.sync(new)
            atomic_write.sync(old)

    @contextmanager
    def _place(self, path: str, make: bool = True) -> Iterator[tuple[int, str]]:
        """The parent's descriptor and the name in it; failures inside are worded for `path`."""
        self._check_held()
        if not (self._is_whole or _is_own(path)):
            self._check_records()
        parent, _, name = path.rpartition("/")
        with reporting_errors(path, absent_is_fine=not make):
            _check_path(path)
            with atomic_write.below(self._root, parent, make) as directory:
                yield directory, name

    def _check_held(self) -> None:
        if self._root < 0:
            raise RuntimeError("a run is only written to inside locked()")
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            raise Halt(_moved(self.name, "its directory is gone")) from None
        if not os.path.samestat(now, os.fstat(self._root)):
            raise Halt(_moved(self.name, "another directory took its place"))
        if not lock.in_place(self._root, LOCK, self._lock):
            raise Halt(_moved(self.name, f"{LOCK} was deleted"))

    def _check_records(self) -> None:
        """Nothing is written on top of a record that lost what git has of it. Asked once while the
        run is held: an index can be made to agree with the loss, HEAD cannot without a commit."""
        from qrspi.core.records import vanished  # a run that nobody writes to does not pay for it

        for path, before in self.committed_of(vanished.DECISIONS).items():
            if lost := vanished.from_git(self, path, before):
                raise Refusal(lost)
        self._is_whole = True

    def _hash(self, path: str, directory: int, name: str) -> str | None:
        if _is_own(path):
            return None
        now = atomic_write.present(directory, name)
        return now and now.sha

    def _note(self, path: str, before: str | None, after: str | None) -> None:
        if not _is_own(path):
            self.changes.append(Change(path, before, after))


def _is_own(path: str) -> bool:
    """The engine's own folder is in no audit line: hashing the log for each of its lines would make
    each append cost as much as the log is long."""
    return path.startswith(f"{lock.OWN}/")


def _check_path(path: str) -> None:
    """Checked before a directory is made for only the first parts of a bad path."""
    os.fsencode(path)
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError(f"no name of a file: {path!r}")


def _respect_read_only(directory: int, name: str, now: atomic_write.Present | None) -> None:
    """A rename would replace even a file that its owner made read-only."""
    if now and not os.access(name, os.W_OK, dir_fd=directory, effective_ids=True):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)


def _unchanged(path: str, now: atomic_write.Present | None, sha: str) -> atomic_write.Present:
    if now and now.sha == sha:
        return now
    what = "changed" if now else "deleted"
    raise Refusal(
        Problem(
            "changed-meanwhile",
            f"{path} was {what} by someone else meanwhile and is left as it is: "
            "run the command again",
            file=path,
            hint="run the same command again",
        )
    )


def _sync_both(directory: int, name: str) -> None:
    """The bytes may be of a command that was killed before it could sync them."""
    with closing(atomic_write.open_regular(directory, name)) as fd:
        os.fsync(fd)
    atomic_write.sync(directory)


def _busy(run: str, timeout: float, holder: str) -> Problem:
    return Problem(
        "busy",
        f"run {run} is held by {holder}, waited {timeout:g} s: try again when it is done",
        found=holder,
        hint="run the same command again",
    )


def _already_there(path: str) -> Problem:
    return Problem("already-there", f"{path} is already there and is not replaced", file=path)


def _moved(name: str, what: str) -> Problem:
    return Problem(
        "run-moved",
        f"run {name} changed under the command that holds it ({what}): stopped before the next "
        "write; run the command again",
        hint="run the same command again",
    )
