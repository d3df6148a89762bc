from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qrspi.core.gates.checkpoints.checkpoint_tables import FILE, ROWS
from qrspi.core.tree import Fault
from qrspi.world.files import orchestration_db
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.watch.database_changes import DatabaseChanges
from qrspi.world.watch.watchdog_events import Inbox, Notice, WatchdogEvents
from tests.checkpoints import ask
from tests.patience import until


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "runs" / "a-run"
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(orchestration_db.new([("task-01", "", "")]))
    return folder


@pytest.mark.rule("CK-09")
def test_a_write_is_seen_once_and_a_read_never(run: Path) -> None:
    changes = DatabaseChanges()
    changes.look("a-run", str(run))
    for _ in range(2):
        assert not isinstance(DiskTree(run).rows(FILE, ROWS), Fault)
        assert changes.since() == frozenset()
    with closing(sqlite3.connect(run / FILE, isolation_level=None)) as kept_open:
        kept_open.execute("UPDATE orchestration_tasks SET state = 'working'")
        assert changes.since() == {"a-run"}
        assert changes.since() == frozenset()
        changes.look("a-run", str(run))
        assert changes.since() == frozenset()
        kept_open.execute("UPDATE orchestration_tasks SET state = 'error'")
        assert changes.since() == {"a-run"}


@pytest.mark.rule("CK-09", "DMN-02")
@pytest.mark.parametrize(
    "there", [b"", orchestration_db.new([("task-01", "", "")])], ids=["empty", "of one task"]
)
def test_a_run_without_a_database_is_asked_about_once(run: Path, there: bytes) -> None:
    """Or a daemon at rest would ask about a thousand runs each second. An event tells of a new
    database, even of one that is empty still."""
    changes, inbox = DatabaseChanges(), Inbox()
    database = run / FILE
    database.unlink()
    changes.look("a-run", str(run))
    events = WatchdogEvents(str(run.parent), inbox)
    try:
        database.write_bytes(there)
        assert changes.since() == frozenset()
        until(lambda: any(notice.name == "a-run" for notice in inbox.take(0.1)))
    finally:
        events.close()
    changes.look("a-run", str(run))
    database.write_bytes(orchestration_db.new([("task-02", "", "")]))
    assert changes.since() == {"a-run"}


@pytest.mark.rule("CK-09", "DMN-02")
def test_who_reads_a_database_wakes_nobody(run: Path) -> None:
    """Or a daemon would wake itself, again and again."""
    inbox = Inbox()
    heard: set[Notice] = set()

    def has(name: str) -> bool:
        heard.update(inbox.take(0.1))
        return any(notice.name == name for notice in heard)

    events = WatchdogEvents(str(run.parent), inbox)
    try:
        for _ in range(3):
            assert not isinstance(DiskTree(run).rows(FILE, ROWS), Fault)
        (run.parent / "later").mkdir()
        until(lambda: has("later"))
        assert {notice.name for notice in heard} == {"later"}
        ask(run / FILE)
        until(lambda: has("a-run"))
    finally:
        events.close()
