"""A tree that remembers what was read from it: the files that an answer depends on."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import BODY_LIMIT, Entry, Fault, Rows, Tree, TreeOver

How = Literal["listing", "start", "whole"]
_MORE = ("listing", "start", "whole")


class Observation(NamedTuple):
    path: str  # run-relative; '.' is the run itself
    how: How
    found: str  # there, absent, not-a-file, unreadable or too-large


class RecordingTree(TreeOver):
    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._seen: dict[str, Observation] = {}

    @property
    def seen(self) -> tuple[Observation, ...]:
        return tuple(self._seen.values())

    def head(self, path: str) -> bytes | Fault:
        content = self._tree.head(path)
        self._note(path, "start", content)
        return content

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        content = self._tree.read(path, limit)
        self._note(path, "whole", content)
        return content

    def read_each(
        self, folder: str, names: Sequence[str], limit: int = BODY_LIMIT
    ) -> list[bytes | Fault]:
        each = self._tree.read_each(folder, names, limit)
        for name, found in zip(names, each, strict=True):
            self._note(f"{folder}/{name}" if folder else name, "whole", found)
        return each

    def tail(self, path: str, size: int) -> bytes | Fault:
        """Noted as the whole: whatever is added to the file changes its end."""
        content = self._tree.tail(path, size)
        self._note(path, "whole", content)
        return content

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        listed = self._tree.entries(path)
        self._note(path or ".", "listing", listed)
        return listed

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        """SQLite keeps the latest writes in a file beside the database for a while."""
        answers = self._tree.rows(path, *queries)
        for name in (path, f"{path}-wal"):
            self._note(name, "whole", answers)
        return answers

    def _note(self, path: str, how: How, seen: object) -> None:
        before = self._seen.get(path)
        if before is None or _MORE.index(how) > _MORE.index(before.how):
            self._seen[path] = Observation(
                path, how, seen.kind if isinstance(seen, Fault) else "there"
            )
