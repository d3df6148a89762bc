"""A run as it would be: writes are remembered, and nothing on disk changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from qrspi.core.errors import Refusal
from qrspi.core.hints import Self
from qrspi.core.model import Problem
from qrspi.core.tree import BODY_LIMIT, Entry, Fault
from qrspi.world.files.atomic_write import sha256
from qrspi.world.files.run_tree import HEAD
from qrspi.world.runs.workspace import Change, Workspace


class DryRunWorkspace(Workspace):
    """Replaces a Workspace for `--dry-run`. Reading sees what was written. No lock is taken, since
    nobody can be disturbed."""

    def __init__(self, path: str | os.PathLike[str], in_git: bool | None = None) -> None:
        super().__init__(path, in_git)
        self._written: dict[str, bytes | None] = {}  # None: removed

    @contextmanager
    def locked(self, timeout: float = 10.0, command: str = "qrspi") -> Iterator[Self]:
        self._written = {}
        self.changes = []
        yield self

    def read(self, path: str, limit: int = BODY_LIMIT) -> bytes | Fault:
        if path not in self._written:
            return super().read(path, limit)
        data = self._written[path]
        if data is None:
            return Fault("absent")
        return data if len(data) <= limit else Fault("too-large", str(len(data)), limit)

    def head(self, path: str) -> bytes | Fault:
        data = self.read(path) if path in self._written else super().head(path)
        return data if isinstance(data, Fault) else data[:HEAD]

    def tail(self, path: str, size: int) -> bytes | Fault:
        if path not in self._written:
            return super().tail(path, size)
        data = self.read(path)
        return data if isinstance(data, Fault) else data[-size:]

    def entries(self, path: str) -> tuple[Entry, ...] | Fault:
        if self._written.get(path) is not None:
            return Fault("not-a-file", "file")
        found = super().entries(path)
        prefix = f"{path}/" if path else ""
        changed = {
            name[len(prefix) :]: data
            for name, data in self._written.items()
            if name.startswith(prefix)
        }
        if not any(data is not None for data in changed.values()) and isinstance(found, Fault):
            return found
        there = {} if isinstance(found, Fault) else {entry.name: entry.kind for entry in found}
        for name, data in changed.items():
            first, _, below = name.partition("/")
            if data is not None:
                there[first] = "dir" if below else "file"
            elif not below:
                there.pop(first, None)
        return tuple(Entry(name, there[name]) for name in sorted(there))

    def write(self, path: str, data: bytes) -> bool:
        if self.read(path) == data:
            return False
        self._put(path, data)
        return True

    def replace(self, path: str, old: bytes, new: bytes) -> None:
        self._put(path, new)

    def create(self, path: str, data: bytes) -> None:
        if self.read(path) != Fault("absent"):
            text = f"{path} is already there and is not replaced"
            raise Refusal(Problem("already-there", text, file=path))
        self._put(path, data)

    def append(self, path: str, lines: bytes) -> tuple[Problem, ...]:
        before = self.read(path)
        self._put(path, lines if isinstance(before, Fault) else before + lines)
        return ()

    def remove(self, path: str) -> bool:
        if isinstance(self.head(path), Fault):
            return False
        self._put(path, None)
        return True

    def move(self, source: str, target: str) -> bool:
        there = not isinstance(self.entries(source), Fault)
        if there or not isinstance(self.head(source), Fault):
            self.changes.append(Change(source, None, None, target))
            return True
        return False

    def _put(self, path: str, data: bytes | None) -> None:
        before = self.read(path)
        old = None if isinstance(before, Fault) else sha256(before)
        self._written[path] = data
        self.changes.append(Change(path, old, None if data is None else sha256(data)))
