"""Files of hosts, in a project or in a home: read as text, written whole, never through a link."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree, opened

_LIMIT = 16 * 1024 * 1024
_ANYBODY_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def home() -> str:
    return os.path.expanduser("~")


def text(place: str, file: str) -> str | None:
    if _below_a_link(place, file):
        raise Refusal(_unfit(file, "it is a link or lies below one, and nothing is written there"))
    data = DiskTree(place).read(file, _LIMIT)
    if isinstance(data, Fault):
        if data.kind == "absent":
            return None
        raise Refusal(_unfit(file, data.reason))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(_unfit(file, "it is not UTF-8 text")) from None


def _below_a_link(place: str, file: str) -> bool:
    while file and not os.path.islink(f"{place}/{file}"):
        file = file.rpartition("/")[0]
    return bool(file)


def _unfit(file: str, why: str) -> Problem:
    text = f"{file} is left as it is, and so is everything else: {why}"
    return Problem("unfit-file", text, file=file, found=why)


def must_be_writable(place: str, file: str) -> None:
    """Somebody made it so on purpose, although its folder would let us replace it."""
    with suppress(FileNotFoundError):
        if not os.lstat(f"{place}/{file}").st_mode & _ANYBODY_WRITES:
            raise Halt(_unfit(file, "nobody may write it"))


def write(place: str, file: str, content: str | None) -> None:
    """None removes it, together with folders that become empty."""
    folder, _, name = file.rpartition("/")
    with (
        atomic_write.reporting_errors(file),
        opened(place) as root,
        atomic_write.below(root, folder, make=content is not None) as directory,
    ):
        if content is None:
            os.unlink(name, dir_fd=directory)
        else:
            atomic_write.replace(directory, name, content.encode(), _mode(directory, name))
    if content is None:
        _remove_empty(place, folder)


def _remove_empty(place: str, folder: str) -> None:
    while folder:
        try:
            os.rmdir(f"{place}/{folder}")
        except OSError:
            return
        folder = folder.rpartition("/")[0]


def _mode(directory: int, name: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def skill() -> str:
    import qrspi

    package = os.path.dirname(os.path.abspath(qrspi.__file__))
    with open(f"{package}/data/skill/SKILL.md", encoding="utf-8") as file:
        return file.read()
