"""The database that agents speak SQL to: what they may write, and what is never opened."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_tables import (
    ADD_ROW,
    FAULTS,
    FILE,
    ROWS,
    STATES,
    TYPES,
)
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.files import orchestration_db
from qrspi.world.files.run_tree import DiskTree
from tests.checkpoints import ask, messages, request, rows, script, states

NOW = "2026-05-17 09:30:00"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / FILE
    path.write_bytes(orchestration_db.new([("task-01", NOW, "/x"), ("task-02", NOW, "/y")]))
    return path


@pytest.mark.rule("CK-01")
def test_the_tables_have_their_columns(database: Path) -> None:
    columns = {
        table: [name for _, name, *_ in rows(database, f"PRAGMA table_info({table})")]
        for table in ("orchestration_tasks", "orchestration_messages")
    }
    assert columns == {
        "orchestration_tasks": (
            "task_id state last_heartbeat instruction_path session_id worked_by started_at "
            "completed_at report_path retry_count last_error"
        ).split(),
        "orchestration_messages": "id task_id from_session message message_type timestamp".split(),
    }
    assert rows(database, "PRAGMA journal_mode") == [("wal",)]
    assert states(database) == {"task-01": "watching", "task-02": "watching"}


@pytest.mark.rule("CK-01")
def test_states_and_types_are_checked(database: Path) -> None:
    for state in STATES:
        script(database, f"UPDATE orchestration_tasks SET state = '{state}'")
    for kind in TYPES:
        script(
            database,
            "INSERT INTO orchestration_messages (task_id, message, message_type) "
            f"VALUES ('task-01', 'x', '{kind}')",
        )
    assert (len(STATES), len(TYPES)) == (11, 12)
    for bad in (
        "UPDATE orchestration_tasks SET state = 'done'",
        "INSERT INTO orchestration_messages (task_id, message, message_type) VALUES (1, 2, 'c')",
        "INSERT INTO orchestration_messages (task_id, message) VALUES ('a', 'b')",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            script(database, bad)


# The statements of the review protocol, as agents are given them.
READ_REQUEST = """SELECT message FROM orchestration_messages
WHERE task_id = '{task-id}' AND message_type = 'review_request'
ORDER BY timestamp DESC LIMIT 1;
"""
COUNT_REQUESTS = """SELECT COUNT(*) FROM orchestration_messages
WHERE task_id = '{task-id}' AND message_type = 'review_request';
"""
APPROVE = """UPDATE orchestration_tasks
SET state = 'review_approved', last_heartbeat = datetime('now')
WHERE task_id = '{task-id}';

INSERT INTO orchestration_messages (task_id, from_session, message, message_type) VALUES (
    '{task-id}', 'task-00',
    'REVIEW APPROVED: {feedback}
     {Optional: Set self-correction flag to false — this was minor.}
     Proceed with remaining steps.',
    'approval'
);
"""
REJECT = """UPDATE orchestration_tasks
SET state = 'review_failed', last_heartbeat = datetime('now')
WHERE task_id = '{task-id}';

INSERT INTO orchestration_messages (task_id, from_session, message, message_type) VALUES (
    '{task-id}', 'task-00',
    'REVIEW FAILED (Smoothness: {X}/9):
     Issue: {what is wrong}
     Required: {specific changes needed}
     Retry: {instructions for re-submission}',
    'rejection'
);
"""


def _in_another_millisecond() -> None:
    """Between two requests lies work; the protocol's statements tell them apart by their time."""
    now = time.time_ns() // 10**6
    while time.time_ns() // 10**6 == now:
        pass


@pytest.mark.rule("CK-01", "GTD-20")
def test_the_statements_of_the_protocol_work_as_they_are(database: Path) -> None:
    for number in range(1, 21):
        _in_another_millisecond()
        ask(database, text=request(checkpoint=f"{number} of 20"))
        (found,) = rows(database, READ_REQUEST.replace("{task-id}", "task-01"))
        assert f"Checkpoint: {number} of 20" in found[0]
    assert rows(database, COUNT_REQUESTS.replace("{task-id}", "task-01")) == [(20,)]
    script(database, APPROVE.replace("{task-id}", "task-01"))
    script(database, REJECT.replace("{task-id}", "task-02"))
    assert states(database) == {"task-01": "review_approved", "task-02": "review_failed"}
    assert [text[:15] for text in messages(database, "approval")] == ["REVIEW APPROVED"]
    (first, *_) = rows(database, "SELECT timestamp FROM orchestration_messages")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", first[0])


@pytest.mark.rule("CK-02", "GTD-20")
@pytest.mark.parametrize(
    ("update", "noted"),
    [
        ("state = 'working', last_heartbeat = datetime('now')", False),
        ("state = 'working', last_heartbeat = datetime('now', '-3 seconds')", False),
        ("state = 'working', last_heartbeat = datetime('now', '-7 seconds')", True),
        ("state = 'working', last_heartbeat = NULL", True),
        ("state = 'working', last_heartbeat = 'just now'", True),
        ("state = 'working'", True),
        ("state = 'watching', last_heartbeat = NULL", False),
        ("last_heartbeat = NULL", False),
    ],
)
def test_a_change_of_state_without_its_heartbeat_is_noted(
    database: Path, update: str, noted: bool
) -> None:
    script(database, f"UPDATE orchestration_tasks SET {update} WHERE task_id = 'task-01'")
    assert [row[1:4] for row in rows(database, FAULTS)] == (
        [("task-01", "watching", "working")] if noted else []
    )


WRITER = """
import sqlite3, sys
for number in range(40):
    with sqlite3.connect(sys.argv[1], timeout=30) as connection:
        connection.execute("INSERT INTO orchestration_messages (task_id, message, message_type) "
                           "VALUES (?, ?, 'handoff')", (sys.argv[2], str(number)))
    connection.close()
"""


@pytest.mark.rule("CK-01")
def test_several_processes_write_while_the_engine_does(database: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(database)]
    writers = [subprocess.Popen([*command, f"task-{at}"]) for at in range(4)]
    for number in range(40):
        with orchestration_db.changing(_run(database), 30) as change:
            change.run(ADD_ROW, f"task-{number + 10}", NOW, "/z")
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert len(messages(database, "handoff")) == 160
    assert len(states(database)) == 42


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1024])


def foreign(path: Path) -> None:
    path.unlink()
    script(path, "CREATE TABLE orchestration_tasks (task_id TEXT, state TEXT)")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))
    path.symlink_to("elsewhere.db")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link_beside(path: Path) -> None:
    path.with_name(f"{FILE}-wal").symlink_to(path.with_name("victim"))


SHAPE = "is somebody else's database, or of another shape"
BAD = [
    (folder, "is a folder"),
    (link, "is a link"),
    (fifo, "is a special file"),
    (lambda path: path.write_bytes(b"no database at all\n" * 80), "is not an SQLite database"),
    (damaged, "is damaged"),
    (lambda path: path.write_bytes(b""), SHAPE),
    (foreign, SHAPE),
    (
        lambda path: script(path, "PRAGMA user_version = 2"),
        "is of another version (2; this qrspi knows 1)",
    ),
    (lambda path: script(path, "DROP TRIGGER orchestration_heartbeat"), SHAPE),
    (
        lambda path: script(
            path,
            "CREATE TRIGGER mine AFTER UPDATE ON orchestration_tasks BEGIN "
            "DELETE FROM orchestration_messages; END",
        ),
        SHAPE,
    ),
    (link_beside, f"has a symlink beside it in the place of {FILE}-wal"),
]


@pytest.mark.rule("GTD-07")
@pytest.mark.parametrize(("spoil", "what"), BAD, ids=[what[:30] for _, what in BAD])
def test_what_is_no_database_of_ours_is_named_and_left(
    database: Path, spoil: object, what: str
) -> None:
    assert callable(spoil)
    spoil(database)
    before = [(path.name, path.is_file() and path.read_bytes()) for path in _around(database)]
    found = checkpoint_board.read(DiskTree(database.parent))
    assert isinstance(found, Problem)
    assert found.message == (
        f"{FILE} {what}: expected the database that checkpoint init makes; move it away, "
        "and that makes a new one"
    )
    with pytest.raises(Halt) as halt, orchestration_db.changing(_run(database), 1):
        pass
    assert (halt.value.exit_code, halt.value.problem.message) == (4, found.message)
    after = [(path.name, path.is_file() and path.read_bytes()) for path in _around(database)]
    assert after == before


def _run(database: Path) -> str:
    return str(database.parent)


def _around(database: Path) -> list[Path]:
    """Without what SQLite itself makes beside a database that it opens."""
    beside = (f"{FILE}-shm", f"{FILE}-wal")
    return [one for one in sorted(database.parent.iterdir()) if one.name not in beside]


@pytest.mark.rule("GTD-07")
def test_a_locked_database_is_said_to_be(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Halt) as halt, orchestration_db.changing(_run(database), 0.1):
            pass
        assert not isinstance(DiskTree(database.parent).rows(FILE, ROWS), Fault)
    assert halt.value.problem.message == (
        f"{FILE} is locked by another program: try again when it is done"
    )


def test_a_change_that_is_given_up_leaves_nothing(database: Path) -> None:
    with pytest.raises(ZeroDivisionError), orchestration_db.changing(_run(database), 1) as change:
        change.run(ADD_ROW, "task-03", NOW, "/z")
        raise ZeroDivisionError
    assert list(states(database)) == ["task-01", "task-02"]


def test_words_that_are_no_text_can_be_read(database: Path) -> None:
    odd = "UPDATE orchestration_tasks SET task_id = CAST(x'ff' AS TEXT) WHERE task_id = 'task-01'"
    script(database, odd)
    found = checkpoint_board.read(DiskTree(database.parent))
    assert isinstance(found, checkpoint_board.Board)
    assert list(found.rows) == ["task-02"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_read(database: Path) -> None:
    database.parent.chmod(0o555)
    try:
        assert not isinstance(DiskTree(database.parent).rows(FILE, ROWS), Fault)
    finally:
        database.parent.chmod(0o755)
