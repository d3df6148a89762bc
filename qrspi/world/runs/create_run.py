"""A new run appears whole, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from qrspi.core.errors import Busy, Refusal
from qrspi.core.model import Problem
from qrspi.world.files import atomic_write as atomic
from qrspi.world.files import lock
from qrspi.world.files.run_tree import opened
from qrspi.world.files.write_errors import worded
from qrspi.world.runs.locate import RUNS, Root, RunDir

_PATIENCE = 10.0


def create_run(root: Root, name: str, files: Mapping[str, bytes]) -> RunDir:
    """Make a run with its first files: filled beside its place, then renamed to it."""
    path = f"{root.runs_dir}/{name}"
    with worded(path), _runs_folder(root) as runs:
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"no name of a run: {name!r}")
        _remove_leftovers(runs)
        if atomic.exists(runs, name):
            raise Refusal(already_there(path))
        with _temporary_folder(runs, name, files) as temp:
            _rename(runs, temp, name, path)
            atomic.sync(runs)
    return RunDir(name, path)


@contextmanager
def _runs_folder(root: Root) -> Iterator[int]:
    inside = root.runs_dir == f"{root.project}/{RUNS}"
    with (
        opened(root.project if inside else root.runs_dir) as start,
        atomic.below(start, RUNS if inside else "", make=True) as runs,
    ):
        yield runs


def _remove_leftovers(runs: int) -> None:
    """Only while no other process is at it: each holds the folder's lock in shared mode. Where
    the lock cannot be had (another `init`, or NFS) they stay for a later one."""
    with suppress(OSError):
        fcntl.flock(runs, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in os.listdir(runs):
            if atomic.LEFTOVER.fullmatch(name):
                _remove(runs, name)
    if not lock.take(runs, _PATIENCE, fcntl.LOCK_SH):
        raise Busy(_sweeping())


@contextmanager
def _temporary_folder(runs: int, name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    temp = atomic.temporary_name(name)
    os.mkdir(temp, dir_fd=runs)
    try:
        with atomic.below(runs, temp, make=False) as folder:
            for file, data in files.items():
                atomic.fill(folder, file, data)
            atomic.sync(folder)
        yield temp
    finally:
        with suppress(FileNotFoundError):
            _remove(runs, temp)


def _rename(runs: int, temp: str, name: str, path: str) -> None:
    try:
        os.rename(temp, name, src_dir_fd=runs, dst_dir_fd=runs)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise Refusal(already_there(path)) from None
        raise


def _remove(runs: int, temp: str) -> None:
    with atomic.below(runs, temp, make=False) as folder:
        for file in os.listdir(folder):
            os.unlink(file, dir_fd=folder)
    os.rmdir(temp, dir_fd=runs)


def already_there(path: str) -> Problem:
    return Problem(
        "already-there",
        f"{path} is already there: choose another name, or adopt it with "
        "`qrspi init SLUG --adopt DIR`",
        file=path,
        hint="qrspi init SLUG --adopt DIR",
    )


def _sweeping() -> Problem:
    message = "the runs folder is held by another `qrspi init`: try again when it is done"
    return Problem("busy", message, hint="run the same command again")
