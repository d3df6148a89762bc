"""A tree that remembers what was read from it: the files that an answer depends on."""

from __future__ import annotations

from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import BODY_LIMIT, Entry, Fault, Rows, Tree, TreeOver

How = Literal["listing", "start", "whole"]
_MORE = ("listing", "start", "whole")


class Seen(NamedTuple):
    path: str  # run-relative; '.' is the run itself
    how: How
    found: str  # there, absent, not-a-file, unreadable or too-large


class RecordingTree(TreeOver):
    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._seen: dict[str, Seen] = {}

    @property
    def seen(self) -> tuple[Seen, ...]:
        return tuple(self._seen.values())

    def head(self, path: str) -> bytes | Fault:
        found = self._tree.head(path)
        self._note(path, "start", found)
        return found

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        found = self._tree.read(path, limit)
        self._note(path, "whole", found)
        return found

    def tail(self, path: str, size: int) -> bytes | Fault:
        """Noted as the whole: whatever is added to the file changes its end."""
        found = self._tree.tail(path, size)
        self._note(path, "whole", found)
        return found

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        found = self._tree.entries(path)
        self._note(path or ".", "listing", found)
        return found

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        """SQLite keeps the latest writes in a file beside the database for a while."""
        found = self._tree.rows(path, *queries)
        for name in (path, f"{path}-wal"):
            self._note(name, "whole", found)
        return found

    def _note(self, path: str, how: How, found: object) -> None:
        before = self._seen.get(path)
        if before is None or _MORE.index(how) > _MORE.index(before.how):
            self._seen[path] = Seen(path, how, found.kind if isinstance(found, Fault) else "there")
