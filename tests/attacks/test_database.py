"""To do harm through the database that agents write to, when the engine opens it."""

from __future__ import annotations

import sqlite3
import struct
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.world.files import orchestration_db
from tests.attacks.arena import LOOKS, Arena, workshop
from tests.attacks.trial import attack
from tests.checkpoints import script
from tests.deliveries import config

pytestmark = pytest.mark.rule("SEC-01", "SEC-02", "SEC-24")
ON = config("quick", "gates: {test_command: none, checkpoints: on}\n")
COMMANDS = (*LOOKS, "next", "checkpoint init", "checkpoint list", "checkpoint lint --seen")
PAGE = 4096
JOURNAL = bytes.fromhex("d9d505f920a163d7")  # how every rollback journal begins
ROWS = """
INSERT INTO orchestration_reviews (task_id, request_id, checkpoint, cycle, verdict)
VALUES ('task-01', 1, 1, 1, 'approve');
INSERT INTO orchestration_faults (task_id, old_state, new_state) VALUES ('task-01', 'a', 'b')"""
Spoil = Callable[[Path, Arena], object]


def database(arena: Arena) -> Path:
    """Of a run whose tasks are started, with everything in one file."""
    shop = workshop(arena, **{"config.md": ON})
    shop.next()
    path = shop.run / FILE
    script(path, f"{ROWS}; PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def journal(path: Path, victim: Path) -> None:
    """What SQLite would play back; then it deletes the file that the journal says it belongs to."""
    first, name = path.read_bytes()[:PAGE], bytes(victim)
    head = JOURNAL + struct.pack(">5I", 1, 7, path.stat().st_size // PAGE, 512, PAGE)
    checked = 7 + sum(first[at] for at in range(PAGE - 200, 0, -200))
    page = struct.pack(">I", 1) + first + struct.pack(">I", checked)
    lock_page = struct.pack(">I", 0x40000000 // PAGE + 1)
    owner = lock_page + name + struct.pack(">2I", len(name), sum(name)) + JOURNAL
    path.with_name(f"{FILE}-journal").write_bytes(head.ljust(512, b"\0") + page + owner)


def endless(table: str) -> Spoil:
    """Pages that all lead to the same next page: 300 rows on each of five floors."""

    def spoil(path: Path, arena: Arena) -> None:
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
            ((root,),) = connection.execute(query, (table,)).fetchall()
        data = bytearray(path.read_bytes())
        last = len(data) // PAGE
        data += data[(root - 1) * PAGE : root * PAGE]
        for floor in range(5):
            data += inner(last + 1 + floor)
        data[(root - 1) * PAGE : root * PAGE] = inner(last + 6)
        struct.pack_into(">I", data, 28, len(data) // PAGE)
        path.write_bytes(data)

    return spoil


def inner(child: int, rows: int = 300) -> bytes:
    """A page of a table that leads to its child once for each row."""
    cells = [struct.pack(">IBB", child, 0x80 | row >> 7, row & 0x7F) for row in range(rows)]
    start = PAGE - 6 * rows
    places = struct.pack(f">{rows}H", *(start + 6 * row for row in range(rows)))
    head = struct.pack(">BHHHBI", 5, 0, rows, start, 0, child)
    return (head + places).ljust(start, b"\0") + b"".join(cells)


def sql(text: str) -> Spoil:
    return lambda path, arena: script(path, text)


MANY = """WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {})
INSERT INTO orchestration_messages (task_id, message, message_type)
SELECT {}, {}, 'review_request' FROM n"""


@attack(
    "a clone",
    "a journal beside the database has SQLite delete a file",
    {
        "absolute": lambda path, arena: journal(path, arena.outside / "private.md"),
        "upwards": lambda path, arena: journal(path, Path("../outside/private.md")),
        "in the run": lambda path, arena: journal(path, path.with_name("goals.md")),
        "itself": lambda path, arena: journal(path, path),
    },
)
def test_a_journal(arena: Arena, way: Spoil) -> None:
    path = database(arena)
    before = path.with_name("goals.md").read_bytes()
    way(path, arena)
    assert f"has {FILE}-journal beside it" in arena.looks(COMMANDS)
    with pytest.raises(Halt), orchestration_db.changing(str(path.parent), 1):
        pass
    assert path.with_name("goals.md").read_bytes() == before


@attack(
    "an agent",
    "a database keeps whoever reads it busy",
    {
        "endless reviews": endless("orchestration_reviews"),
        "endless faults": endless("orchestration_faults"),
        "a long value": sql(MANY.format(1, "'task-01'", "hex(zeroblob(20000000))")),
        "a long name": sql(MANY.format(1, "hex(zeroblob(20000000))", "'x'")),
        "many long values": sql(MANY.format(800, "'task-01'", "hex(zeroblob(40000))")),
    },
)
def test_busy(arena: Arena, way: Spoil) -> None:
    path = database(arena)
    way(path, arena)
    begin = time.monotonic()
    said = arena.looks(("status", "next", "checkpoint list", "checkpoint lint"))
    assert time.monotonic() - begin < 60
    assert "holds more than can be read" in " ".join(said.split())


@attack(
    "an agent",
    "a database has statements of its own carried out",
    {
        "a trigger": sql(
            "CREATE TRIGGER t AFTER UPDATE ON orchestration_tasks "
            "BEGIN DELETE FROM orchestration_reviews; END"
        ),
        "a view": sql("CREATE VIEW v AS SELECT * FROM orchestration_tasks"),
        "a view in place of a table": sql(
            "DROP TABLE orchestration_reviews;"
            "CREATE VIEW orchestration_reviews AS SELECT 1 AS id, 'task-01' AS task_id"
        ),
        "a table of another shape": sql(
            "DROP TABLE orchestration_reviews; CREATE TABLE orchestration_reviews (id)"
        ),
    },
)
def test_statements(arena: Arena, way: Spoil) -> None:
    path = database(arena)
    way(path, arena)
    before = path.read_bytes()
    assert "another shape" in arena.looks(COMMANDS)
    assert path.read_bytes() == before
