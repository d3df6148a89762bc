"""Whether the databases of runs were written to. Events do not tell: a writer may never close its
file, and a reader closes one that it could have written to. Size and time of the last write do."""

from __future__ import annotations

import os

from qrspi.core.gates.checkpoints.checkpoint_tables import FILE

_Written = tuple[int, ...]


class DatabaseChanges:
    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, tuple[_Written, ...]]] = {}

    def look(self, name: str, run: str) -> None:
        """Called before the run is read, so that a write in the meantime is news afterwards. That a
        database was made is told by an event, so a run without one is not asked about again."""
        if os.path.lexists(f"{run}/{FILE}"):
            self._seen[name] = (run, _written(run))
        else:
            self.forget(name)

    def forget(self, name: str) -> None:
        self._seen.pop(name, None)

    def since(self) -> frozenset[str]:
        written = [name for name, (run, before) in self._seen.items() if _written(run) != before]
        for name in written:
            self.forget(name)
        return frozenset(written)


def _written(run: str) -> tuple[_Written, ...]:
    return tuple(_file(f"{run}/{name}") for name in (FILE, f"{FILE}-wal"))


def _file(path: str) -> _Written:
    """An empty file, which a reader may have made, counts as none."""
    try:
        stat = os.lstat(path)
    except OSError:
        return ()
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat.st_size else ()
