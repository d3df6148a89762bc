"""A file that somebody named on the command line, in a run or not."""

from __future__ import annotations

import os

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.files.run_tree import DiskTree, opened
from qrspi.world.runs import locate


class LoneFile(NamedTuple):
    """Its last part is not resolved: a link is reported, not followed."""

    folder: str  # absolute, without links
    name: str
    shown: str  # as it was named

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"

    def read(self, limit: int) -> bytes | Fault:
        return DiskTree(self.folder).read(self.name, limit)


def at(path: str) -> LoneFile:
    bare = path.rstrip("/")
    name = os.path.basename(bare)
    if name in ("", ".", ".."):
        bare = os.path.realpath(path or ".")
        name = os.path.basename(bare)
    return LoneFile(os.path.realpath(os.path.dirname(bare)), name, path.rstrip("/") or path)


def run_around(file: LoneFile) -> str | None:
    """The nearest folder above the file that is a run."""
    folder = file.folder
    while folder:
        if locate.is_run(folder):
            return folder
        folder = folder.rpartition("/")[0]
    return None


def replace(file: LoneFile, old: bytes, new: bytes) -> None:
    """Completely or not at all, and only if it still has the bytes that the new ones were made
    from."""
    with reporting_errors(file.shown), opened(file.folder) as folder:
        now = atomic_write.present(folder, file.name)
        if now is None or now.sha != atomic_write.sha256(old):
            raise Refusal(_changed(file.shown))
        atomic_write.replace(folder, file.name, new, now.mode)


def _changed(shown: str) -> Problem:
    message = f"{shown} was changed by someone else meanwhile and is left as it is"
    return Problem("changed-meanwhile", message, file=shown, hint="run the same command again")
