"""A new run appears complete, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from qrspi.core.errors import Busy, Refusal
from qrspi.core.filenames import RUNS
from qrspi.core.model import Problem
from qrspi.world.files import atomic_write, lock
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.files.run_tree import opened
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root, RunDir

_PATIENCE = 10.0


def create_run(root: Root, name: str, files: Mapping[str, bytes]) -> RunDir:
    """Make a run with its first files: filled beside its place, then renamed."""
    return create_from(root, name, files.items())


def create_from(root: Root, name: str, files: Iterable[tuple[str, bytes]]) -> RunDir:
    """The same from files that are read one by one, in folders or not."""
    path = f"{root.runs_dir}/{name}"
    with reporting_errors(path), _runs_folder(root) as runs:
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"no name of a run: {name!r}")
        _remove_leftovers(runs)
        if atomic_write.exists(runs, name):
            raise Refusal(already_there(path))
        with _temporary_folder(runs, name, files) as temp:
            _rename(runs, temp, name, path)
            atomic_write.sync(runs)
    return RunDir(name, path)


@contextmanager
def _runs_folder(root: Root) -> Iterator[int]:
    inside = root.runs_dir == f"{root.project}/{RUNS}"
    with (
        opened(root.project if inside else root.runs_dir) as start,
        atomic_write.below(start, RUNS if inside else "", make=True) as runs,
    ):
        yield runs


def _remove_leftovers(runs: int) -> None:
    """Only while no other `init` is working: each holds the folder's lock in shared mode. Where the
    lock is not available (another `init`, or NFS), a later one removes them."""
    with suppress(OSError):
        fcntl.flock(runs, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in os.listdir(runs):
            if atomic_write.is_leftover(name):
                _remove(runs, name)
    if not lock.take(runs, _PATIENCE, fcntl.LOCK_SH):
        raise Busy(_sweeping())


@contextmanager
def _temporary_folder(runs: int, name: str, files: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    temp = atomic_write.temporary_name(name)
    os.mkdir(temp, dir_fd=runs)
    try:
        with atomic_write.below(runs, temp, make=False) as folder:
            for file, data in files:
                _fill(folder, file, data)
            atomic_write.sync(folder)
        yield temp
    finally:
        with suppress(FileNotFoundError):
            _remove(runs, temp)


def _fill(folder: int, file: str, data: bytes) -> None:
    parent, _, name = file.rpartition("/")
    with atomic_write.below(folder, parent, make=True) as place:
        atomic_write.fill(place, name, data)


def _rename(runs: int, temp: str, name: str, path: str) -> None:
    try:
        os.rename(temp, name, src_dir_fd=runs, dst_dir_fd=runs)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise Refusal(already_there(path)) from None
        raise


def _remove(runs: int, temp: str) -> None:
    from shutil import rmtree  # imported here: only after a kill or a failure is there work for it

    rmtree(temp, dir_fd=runs)


def already_there(path: str) -> Problem:
    text = f"{path} is already there: choose another name"
    if not locate.is_run(path):
        hint = 'qrspi init "TEXT" --name SLUG --pipeline quick'
        return Problem("already-there", text, file=path, hint=hint)
    hint = f"qrspi status {os.path.basename(path)}"
    return Problem("already-there", f"{text}, or go on with that run", file=path, hint=hint)


def _sweeping() -> Problem:
    message = "the runs folder is held by another init: try again when it is done"
    return Problem("busy", message, hint="run the same command again")
