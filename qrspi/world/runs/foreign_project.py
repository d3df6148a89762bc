"""A project of another user: refused as git refuses it, and allowed as git allows it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from qrspi.world.git import command
from qrspi.world.runs import project_search


def check(path: str) -> None:
    real = os.path.realpath(path)
    names = {real, project_search.top(real)}
    if not any(_allows(entry, name) for entry in safe_directories() for name in names if name):
        raise command.not_owner(project_search.top(real) or real)


def safe_directories() -> tuple[str, ...]:
    """What the user's own settings list: `/` is in no repository, whose settings do not count."""
    args = ["config", "--type=path", "-z", "--get-all", "safe.directory"]
    said = command.read("/", args, ok=(0, 1)).out
    return tuple(_since_last_reset(os.fsdecode(said).split("\0")[:-1]))


def _since_last_reset(entries: list[str]) -> Iterator[str]:
    """An empty entry takes back all that stand before it."""
    last = max((at for at, entry in enumerate(entries) if not entry), default=-1)
    yield from entries[last + 1 :]


def _allows(entry: str, name: str) -> bool:
    if entry == "*":
        return True
    if entry.endswith("/*"):
        return name.startswith(entry[:-1])
    return os.path.realpath(entry) == name
