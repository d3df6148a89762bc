"""The one door to SQLite: orchestration.db of a run, which agents write to at the same time.

It is opened as a regular file only, and so are the files that SQLite keeps beside it: through a
link in their place it would write anywhere. A database of another shape is nobody's we know.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from qrspi.core.errors import Halt
from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_tables import (
    ADD_ROW,
    BESIDE,
    DEFINITIONS,
    FILE,
    MARK,
    MARKS,
    VERSION,
)
from qrspi.core.tree import Fault, Rows

# SQLite itself is imported by whoever opens a database, which most commands never do.
if TYPE_CHECKING:
    import sqlite3

READ_TIMEOUT = 2.0  # seconds; a reader only waits where a writer is just being recovered

_KINDS = {stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
_OTHERS = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_ACTING = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
_SHORT = 0xFF  # of an extended code, the part that all versions know
_WAL = b"\x02\x02"  # at 18: how it is written and read


class Unusable(Exception):
    """Why this is no database to work with."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class Transaction:
    """Statements that are carried out together or not at all."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, query: str, *values: Any) -> Rows:
        return tuple(self._connection.execute(query, values).fetchall())

    def run(self, statement: str, *values: Any) -> int:
        """How many rows it changed."""
        return self._connection.execute(statement, values).rowcount


def new(rows: Iterable[tuple[str, str, str]]) -> bytes:
    """A whole database with these rows, to be put in place in one piece."""
    import sqlite3

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in (*MARKS, *DEFINITIONS.values()):
            connection.execute(statement)
        connection.executemany(ADD_ROW, rows)
        data = connection.serialize()
    return data[:18] + _WAL + data[20:]


def answers(run: str, name: str, *queries: str) -> tuple[Rows, ...] | Fault:
    """What it says to each query, all at one moment. There is one database in a run."""
    if name != FILE:
        return Fault("absent")
    try:
        with closing(_opened(run, "ro", READ_TIMEOUT)) as connection, _worded():
            connection.execute("BEGIN")
            _check_shape(connection)
            return tuple(tuple(connection.execute(query).fetchall()) for query in queries)
    except Unusable as unusable:
        return unusable.fault


@contextmanager
def changing(run: str, timeout: float) -> Iterator[Transaction]:
    """Everybody else who writes waits; what is done here is on disk at the end."""
    try:
        with closing(_opened(run, "rw", timeout)) as connection, _worded():
            connection.execute("BEGIN IMMEDIATE")
            _check_shape(connection)
            yield Transaction(connection)
            connection.execute("COMMIT")
    except Unusable as unusable:
        raise Halt(checkpoint_board.unusable(unusable.fault)) from None


def _opened(run: str, mode: str, timeout: float) -> sqlite3.Connection:
    import sqlite3

    path = f"{run}/{FILE}"
    for name in (FILE, *BESIDE):
        _check_kind(f"{run}/{name}", absent_is_fine=name != FILE)
    # Where nothing can be put beside it, SQLite reads it only if told that nobody writes.
    frozen = not os.access(run, os.W_OK) and not os.path.lexists(f"{path}-wal")
    how = "mode=ro&immutable=1" if frozen else f"mode={mode}"
    with _worded():
        connection = sqlite3.connect(
            f"file:{quote(path)}?{how}", timeout, isolation_level=None, uri=True
        )
    connection.text_factory = _text
    return connection


def _text(data: bytes) -> str:
    """Agents may have written anything."""
    return data.decode("utf-8", "replace")


def _check_kind(path: str, *, absent_is_fine: bool) -> None:
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except FileNotFoundError:
        if absent_is_fine:
            return
        raise Unusable(Fault("absent")) from None
    except OSError as error:
        detail = f"cannot be read ({error.strerror})"
        raise Unusable(Fault("unreadable", detail)) from None
    if kind != stat.S_IFREG:
        what = _KINDS.get(kind, "special file")
        if path.endswith(FILE):
            raise Unusable(Fault("not-a-file", what))
        detail = f"has a {what} beside it in the place of {path.rpartition('/')[2]}"
        raise Unusable(Fault("unreadable", detail))


def _check_shape(connection: sqlite3.Connection) -> None:
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark == MARK and version != VERSION:
        detail = f"is of another version ({version}; this qrspi knows {VERSION})"
        raise Unusable(Fault("unreadable", detail))
    found = dict(connection.execute(_OTHERS).fetchall())
    acting = {name for (name,) in connection.execute(_ACTING).fetchall()}
    same = all(found.get(name) == sql for name, sql in DEFINITIONS.items())
    if mark != MARK or not same or not acting <= DEFINITIONS.keys():
        raise Unusable(Fault("unreadable", "is somebody else's database, or of another shape"))


@contextmanager
def _worded() -> Iterator[None]:
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise Unusable(Fault("unreadable", _words(error))) from None


def _words(error: sqlite3.Error) -> str:
    import sqlite3

    match getattr(error, "sqlite_errorcode", 0) & _SHORT:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return checkpoint_board.LOCKED
        case sqlite3.SQLITE_NOTADB:
            return "is no SQLite database"
        case sqlite3.SQLITE_CORRUPT:
            return "is damaged"
        case _:
            return f"cannot be used ({error})"
