"""A tree that looks at each file and folder only once, for one derivation.

Its answer is then about one moment, and a name that a listing lacks is absent without a further
look. This saves a third of the system calls of `status`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from qrspi.core.tree import (
    BODY_LIMIT,
    FRONTMATTER_LIMIT,
    Earlier,
    Entry,
    Fault,
    Kind,
    Rows,
    Tree,
    TreeOver,
    Vouched,
    one_by_one,
)

_ABSENT = Fault("absent")


class Snapshot(TreeOver):
    def __init__(self, tree: Tree, *, asks_git: bool = True) -> None:
        """`asks_git`: whether it may take the time to ask how the code has changed."""
        super().__init__(tree)
        self._asks_git = asks_git
        self._code: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._heads: dict[str, bytes | Fault] = {}
        self._whole: dict[tuple[str, int], bytes | Fault] = {}
        self._tails: dict[tuple[str, int], bytes | Fault] = {}
        self._listings: dict[str, tuple[Entry, ...] | Fault] = {}
        self._kinds: dict[str, dict[str, Kind]] = {}  # of what a listing has, by folder
        self._asked_elsewhere = False  # git or a database

    def head(self, path: str) -> bytes | Fault:
        known = self._heads.get(path)
        if known is None:
            known = _ABSENT if self._lacks(path) else self._tree.head(path)
            self._heads[path] = known
        return known

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        known = self._whole.get((path, limit))
        if known is None:
            head = self._heads.get(path)
            if isinstance(head, bytes) and len(head) <= min(limit, FRONTMATTER_LIMIT):
                return head  # as long as this, the start of a file is all of it
            known = _ABSENT if self._lacks(path) else self._tree.read(path, limit)
            self._whole[path, limit] = known
        return known

    def read_each(
        self, folder: str, names: Sequence[str], limit: int = BODY_LIMIT
    ) -> list[bytes | Fault]:
        paths = [f"{folder}/{name}" if folder else name for name in names]
        keys = [(path, limit) for path in paths]
        if not (self._heads.keys().isdisjoint(paths) and self._whole.keys().isdisjoint(keys)):
            return one_by_one(self, folder, names, limit)
        found = self._tree.read_each(folder, names, limit)
        self._whole.update(zip(keys, found, strict=True))
        return found

    def tail(self, path: str, size: int) -> bytes | Fault:
        known = self._tails.get((path, size))
        if known is None:
            known = _ABSENT if self._lacks(path) else self._tree.tail(path, size)
            self._tails[path, size] = known
        return known

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        known = self._listings.get(path)
        if known is None:
            known = _ABSENT if path and self._lacks(path) else self._tree.entries(path)
            self._listings[path] = known
            if not isinstance(known, Fault):
                self._kinds[path] = dict(known)
            elif known.kind == "absent":
                self._kinds[path] = {}
        return known

    def rows(self, path: str, *queries: str) -> tuple[Rows, ...] | Fault:
        if self._lacks(path):
            return _ABSENT
        self._asked_elsewhere = True
        return self._tree.rows(path, *queries)

    def knows(self, path: str) -> bool:
        self._asked_elsewhere = True
        return self._tree.knows(path)

    def to_restore(self, path: str) -> str:
        self._asked_elsewhere = True
        return self._tree.to_restore(path)

    def committed(self, path: str, *, glance: bool = False) -> bytes | None:
        """A glance that finds nothing is no answer: whoever writes a decision asks git itself."""
        known = self._tree.committed(path, glance=glance)
        self._asked_elsewhere |= known is not None or not glance
        return known

    def earlier(self, path: str, digests: Collection[str]) -> tuple[Earlier, ...]:
        self._asked_elsewhere = True
        return self._tree.earlier(path, digests)

    def on_branch(self, paths: Sequence[str]) -> tuple[str, frozenset[str]]:
        self._asked_elsewhere = True
        return self._tree.on_branch(paths)

    def code_since(self, commit: str, branch: str, place: str) -> tuple[str, ...]:
        if not self._asks_git:
            return ()
        self._asked_elsewhere = True
        known = self._code.get((commit, branch, place))
        if known is None:
            known = self._tree.code_since(commit, branch, place)
            self._code[commit, branch, place] = known
        return known

    def signed(self, line: str) -> bool:
        self._asked_elsewhere = True
        return self._tree.signed(line)

    def vouched(self, path: str) -> Vouched | None:
        self._asked_elsewhere = True
        return self._tree.vouched(path)

    def is_current(self) -> bool:
        """Whether every file and folder that was looked at is as it was. What was derived from this
        tree is then what a second derivation would find."""
        return not self._asked_elsewhere and all(now == then for now, then in self._compared())

    def _compared(self) -> Iterator[tuple[object, object]]:
        """The listings first: they also vouch for what was absent without a look."""
        tree = self._tree
        for path, listed in self._listings.items():
            if listed is not _ABSENT:
                yield tree.entries(path), listed
        for path, head in self._heads.items():
            if head is not _ABSENT:
                yield tree.head(path), head
        for (path, limit), whole in self._whole.items():
            if whole is not _ABSENT:
                yield tree.read(path, limit), whole
        for (path, size), tail in self._tails.items():
            if tail is not _ABSENT:
                yield tree.tail(path, size), tail

    def _lacks(self, path: str) -> bool:
        """Whether the folder was listed and the name is not in it."""
        parent, _, name = path.rpartition("/")
        kinds = self._kinds.get(parent)
        return kinds is not None and name not in kinds
