"""What the index has: asked for single paths, or listed once for the questions of many runs."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from qrspi.core.digest import sha256
from qrspi.core.hints import Any
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.git import command
from qrspi.world.git.repository import Repo

# How `ls-files -v` marks what git takes for unchanged: assume-unchanged, skip-worktree, both.
HIDDEN = frozenset("hSs")


class Tracked(NamedTuple):
    """An entry of the index; `name` is relative to the root."""

    mode: str
    object: str
    name: str


class Listing:
    """Good while the kernel says the same of the index: git only ever replaces it."""

    def __init__(self, repo: Repo) -> None:
        self._folder = os.fsencode(f"{repo.from_root('.')}/".removeprefix("./"))
        self._index = f"{repo.git_dir}/index"
        self._said = _kernel(self._index)
        # Lines as git wrote them: as entries, those of a thousand runs would take 300 MB.
        self._lines = _ask(repo, [])

    @property
    def is_current(self) -> bool:
        return self._said == _kernel(self._index)

    def find(self, names: Sequence[str]) -> tuple[Tracked, ...] | None:
        """In the order of the index; None when only git can tell."""
        wanted = [os.fsencode(name) for name in names]
        below = all(name.startswith(self._folder) and name != b"." for name in wanted)
        if not wanted or not below or not self.is_current:
            return None
        numbers = {number for name in wanted for number in self._numbers(name)}
        return tuple(_entry(self._lines[number]) for number in sorted(numbers))

    def _numbers(self, name: bytes) -> Iterator[int]:
        """Where a file is, or what is below a folder: the index is sorted by the bytes of names."""
        for first, after in ((name, name + b"\0"), (name + b"/", name + _AFTER_SLASH)):
            yield from range(self._from(first), self._from(after))

    def _from(self, name: bytes) -> int:
        return bisect_left(self._lines, name, key=_name)

    def by_child(self) -> dict[str, bytes]:
        """Of each file or folder directly in this one, a hash of what git has of it."""
        skip, digests = len(self._folder), dict[bytes, Any]()
        for line in self._lines:
            child = _name(line)[skip:].partition(b"/")[0]
            if child not in digests:
                digests[child] = sha256()
            digests[child].update(line + b"\0")
        return {os.fsdecode(child): digest.digest() for child, digest in digests.items()}


_AFTER_SLASH = bytes((ord("/") + 1,))
_listings: dict[str, Listing] = {}  # by git directory


def list_once(repo: Repo) -> Listing:
    """Until the index changes, `tracked` answers from it; whoever asked for it lets it go."""
    kept = _listings.get(repo.git_dir)
    if kept is None or not kept.is_current:
        kept = _listings[repo.git_dir] = Listing(repo)
    return kept


def let_go() -> None:
    _listings.clear()


def tracked(repo: Repo, paths: Sequence[str]) -> tuple[Tracked, ...]:
    pathspecs = command.literal(paths)
    kept = _listings.get(repo.git_dir)
    listed = kept.find([repo.from_root(path) for path in paths]) if kept else None
    return tuple(map(_entry, _ask(repo, pathspecs))) if listed is None else listed


def untracked(repo: Repo, paths: Sequence[str]) -> tuple[str, ...]:
    return untracked_in(tracked(repo, paths), repo, paths)


def untracked_in(entries: Sequence[Tracked], repo: Repo, paths: Sequence[str]) -> tuple[str, ...]:
    known = {name for entry in entries for name in _itself_and_parents(entry.name)}
    return tuple(path for path in paths if repo.from_root(path) not in known)


def hidden_changes(repo: Repo) -> tuple[str, ...]:
    """Files that git is told not to look at, and that are not as the index has them."""
    lines = command.read(repo.root, ["ls-files", "-z", "-v"]).items
    names = (line[2:] for line in lines if line[0] in HIDDEN)
    # A sparse checkout has most of them nowhere; those are as they should be.
    there = [name for name in names if os.path.lexists(f"{repo.root}/{name}")]
    if not there:
        return ()
    entries = map(_entry, _ask(repo._replace(path=repo.root), command.exactly(there)))
    return tuple(one.name for one in entries if not _is_as_stored(repo, one))


def _is_as_stored(repo: Repo, entry: Tracked) -> bool:
    import hashlib

    path = f"{repo.root}/{entry.name}"
    try:
        data = os.fsencode(os.readlink(path)) if os.path.islink(path) else _bytes(path)
    except OSError:
        return False
    named = hashlib.new(repo.hash, b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return named.hexdigest() == entry.object


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _ask(repo: Repo, pathspecs: Sequence[str]) -> list[bytes]:
    args = ["ls-files", "-z", "--stage", "--full-name", "--", *pathspecs]
    return command.read(repo.path, args).out.split(b"\0")[:-1]


def _name(line: bytes) -> bytes:
    return line.partition(b"\t")[2]


def _entry(line: bytes) -> Tracked:
    meta, _, name = line.partition(b"\t")
    mode, oid, _ = meta.decode("ascii").split(" ")
    return Tracked(mode, oid, os.fsdecode(name))


def _itself_and_parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _kernel(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return (stat.st_ino, stat.st_size, stat.st_ctime_ns)
