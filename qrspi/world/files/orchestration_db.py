"""The one door to SQLite: a run's orchestration.db, which agents write to at the same time. Through
a link in its place, or beside it, SQLite could write anywhere, so only regular files are opened. A
forged file can make a few pages stand for endless rows, so reading has limits."""

from __future__ import annotations

import os
import stat
import time
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
    JOURNAL,
    MARK,
    MARKS,
    VERSION,
)
from qrspi.core.tree import Fault, Rows

# Only code that opens a database imports SQLite; most commands never do.
if TYPE_CHECKING:
    import sqlite3

READ_TIMEOUT = 2.0  # seconds; a reader waits only while a writer is being recovered
LONGEST_VALUE = 8 * 1024 * 1024
LARGEST_ANSWER = 32 * 1024 * 1024  # characters
PATIENCE = 2.0  # seconds for one statement: an honest one takes a few milliseconds

_KINDS = {stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
_TOO_MUCH = "holds more than can be read"
_OTHERS = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_ACTING = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
_STEPS = 1000  # of SQLite's machine, between two looks at the clock
_CELL = 8  # what a value counts besides its length
_SHORT = 0xFF  # of an extended code, the part that all versions know
_WAL = b"\x02\x02"  # at 18: how it is written and read


class Unusable(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class Transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._until = 0.0
        connection.set_progress_handler(lambda: time.monotonic() > self._until, _STEPS)

    def rows(self, query: str, *values: Any) -> Rows:
        return tuple(_within_limits(self._execute(query, values)))

    def run(self, statement: str, *values: Any) -> int:
        return self._execute(statement, values).rowcount

    def _execute(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        self._until = time.monotonic() + PATIENCE
        return self._connection.execute(statement, values)


def _within_limits(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    left = LARGEST_ANSWER
    for row in rows:
        left -= sum(len(value) + _CELL if isinstance(value, str) else _CELL for value in row)
        if left < 0:
            raise Unusable(Fault("unreadable", _TOO_MUCH))
        yield row


def new(rows: Iterable[tuple[str, str, str]]) -> bytes:
    import sqlite3

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in (*MARKS, *DEFINITIONS.values()):
            connection.execute(statement)
        connection.executemany(ADD_ROW, rows)
        data = connection.serialize()
    return data[:18] + _WAL + data[20:]


def answers(run: str, name: str, *queries: str) -> tuple[Rows, ...] | Fault:
    """The answers to all queries, about one moment. A run has one database."""
    if name != FILE:
        return Fault("absent")
    try:
        with closing(_opened(run, "ro", READ_TIMEOUT)) as connection, _worded():
            connection.execute("BEGIN")
            return tuple(map(_checked(connection).rows, queries))
    except Unusable as unusable:
        return unusable.fault


@contextmanager
def changing(run: str, timeout: float) -> Iterator[Transaction]:
    """All other writers wait; what is done here is on disk at the end."""
    try:
        with closing(_opened(run, "rw", timeout)) as connection, _worded():
            connection.execute("BEGIN IMMEDIATE")
            yield _checked(connection)
            connection.execute("COMMIT")
    except Unusable as unusable:
        raise Halt(checkpoint_board.unusable(unusable.fault)) from None


def _opened(run: str, mode: str, timeout: float) -> sqlite3.Connection:
    import sqlite3

    path = f"{run}/{FILE}"
    for name in (FILE, *BESIDE):
        _check_kind(f"{run}/{name}", absent_is_fine=name != FILE)
    # Where nothing can be written beside it, SQLite reads it only if told that nobody writes.
    frozen = not os.access(run, os.W_OK) and not os.path.lexists(f"{path}-wal")
    how = "mode=ro&immutable=1" if frozen else f"mode={mode}"
    with _worded():
        connection = sqlite3.connect(
            f"file:{quote(path)}?{how}", timeout, isolation_level=None, uri=True
        )
    # Agents may have written anything.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    return connection


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
    if path.endswith(JOURNAL):
        # A database with a WAL has none. SQLite would replay it, and delete the file that it names.
        raise Unusable(Fault("unreadable", f"has {JOURNAL} beside it, which is nobody's we know"))


def _checked(connection: sqlite3.Connection) -> Transaction:
    transaction = Transaction(connection)
    _check_shape(transaction)
    return transaction


def _check_shape(database: Transaction) -> None:
    ((mark,),) = database.rows("PRAGMA application_id")
    ((version,),) = database.rows("PRAGMA user_version")
    if mark == MARK and version != VERSION:
        detail = f"is of another version ({version}; this qrspi knows {VERSION})"
        raise Unusable(Fault("unreadable", detail))
    definitions: dict[str, str] = dict(database.rows(_OTHERS))
    acting = {name for (name,) in database.rows(_ACTING)}
    same = all(definitions.get(name) == sql for name, sql in DEFINITIONS.items())
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
            return "is not an SQLite database"
        case sqlite3.SQLITE_CORRUPT:
            return "is damaged"
        case sqlite3.SQLITE_INTERRUPT | sqlite3.SQLITE_TOOBIG:
            return _TOO_MUCH
        case _:
            return f"cannot be used ({error})"
