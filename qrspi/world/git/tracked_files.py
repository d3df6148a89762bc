"""What the index has: asked for single paths, or listed once for the questions of many runs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from qrspi.core.named_tuple import NamedTuple
from qrspi.world.git import command
from qrspi.world.git.repository import Repo


class Tracked(NamedTuple):
    """An entry of the index; `name` is relative to the root."""

    mode: str
    object: str
    name: str


class Listing:
    """The entries below one folder. git never writes into its index but replaces it, so while the
    kernel says the same of that file, they are the same."""

    def __init__(self, repo: Repo) -> None:
        self._folder = f"{repo.from_root('.')}/".removeprefix("./")
        self._index = f"{repo.git_dir}/index"
        self._said = _kernel(self._index)
        self._entries = _ask(repo, [])
        self._below: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for name in _itself_and_parents(entry.name):
                self._below.setdefault(name, []).append(number)

    @property
    def is_current(self) -> bool:
        return self._said == _kernel(self._index)

    def find(self, names: Sequence[str]) -> tuple[Tracked, ...] | None:
        """In the order of the index; None when only git can tell."""
        below = all(name.startswith(self._folder) and name != "." for name in names)
        if not names or not below or not self.is_current:
            return None
        numbers = {number for name in names for number in self._below.get(name, ())}
        return tuple(self._entries[number] for number in sorted(numbers))

    def by_child(self) -> dict[str, tuple[Tracked, ...]]:
        """What each file or folder directly in this one has."""
        skip, found = len(self._folder), dict[str, list[Tracked]]()
        for entry in self._entries:
            found.setdefault(entry.name[skip:].partition("/")[0], []).append(entry)
        return {name: tuple(entries) for name, entries in found.items()}


_listings: dict[str, Listing] = {}  # by git directory


def list_once(repo: Repo) -> Listing:
    """List what is below `repo.path`. Until the index changes, `tracked` answers from that list."""
    kept = _listings.get(repo.git_dir)
    if kept is None or not kept.is_current:
        kept = _listings[repo.git_dir] = Listing(repo)
    return kept


def tracked(repo: Repo, paths: Sequence[str]) -> tuple[Tracked, ...]:
    """What the index has at these files and below these directories."""
    pathspecs = command.literal(paths)
    kept = _listings.get(repo.git_dir)
    listed = kept.find([repo.from_root(path) for path in paths]) if kept else None
    return _ask(repo, pathspecs) if listed is None else listed


def untracked(repo: Repo, paths: Sequence[str]) -> tuple[str, ...]:
    return untracked_in(tracked(repo, paths), repo, paths)


def untracked_in(entries: Sequence[Tracked], repo: Repo, paths: Sequence[str]) -> tuple[str, ...]:
    """The paths without an entry."""
    known = {name for entry in entries for name in _itself_and_parents(entry.name)}
    return tuple(path for path in paths if repo.from_root(path) not in known)


def _ask(repo: Repo, pathspecs: Sequence[str]) -> tuple[Tracked, ...]:
    args = ["ls-files", "-z", "--stage", "--full-name", "--", *pathspecs]
    lines = os.fsdecode(command.read(repo.path, args).out).split("\0")
    return tuple(_entry(line) for line in lines if line)


def _entry(line: str) -> Tracked:
    meta, _, name = line.partition("\t")
    mode, oid, _ = meta.split(" ")
    return Tracked(mode, oid, name)


def _itself_and_parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _kernel(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_ctime_ns)
