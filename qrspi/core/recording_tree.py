"""A tree that remembers what it was asked for: the files an answer depends on."""

from __future__ import annotations

from typing import Literal, NamedTuple

from qrspi.core.tree import BODY_LIMIT, Entry, Fault, Tree

How = Literal["listing", "start", "whole"]
_MORE = ("listing", "start", "whole")


class Seen(NamedTuple):
    path: str  # run-relative; '.' is the run itself
    how: How
    found: str  # there, absent, not-a-file, unreadable or too-large


class Witness:
    """Implements `core.tree.Tree` over another."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: dict[str, Seen] = {}

    @property
    def seen(self) -> tuple[Seen, ...]:
        """In the order in which they were first looked at."""
        return tuple(self._seen.values())

    @property
    def name(self) -> str:
        return self._tree.name

    @property
    def in_git(self) -> bool:
        return self._tree.in_git

    def head(self, path: str) -> bytes | Fault:
        found = self._tree.head(path)
        self._note(path, "start", found)
        return found

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        found = self._tree.read(path, limit)
        self._note(path, "whole", found)
        return found

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        found = self._tree.entries(path)
        self._note(path or ".", "listing", found)
        return found

    def _note(self, path: str, how: How, found: object) -> None:
        before = self._seen.get(path)
        if before is None or _MORE.index(how) > _MORE.index(before.how):
            self._seen[path] = Seen(path, how, found.kind if isinstance(found, Fault) else "there")
