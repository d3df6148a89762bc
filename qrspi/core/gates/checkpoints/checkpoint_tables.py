"""The tables of orchestration.db, which agents write with SQL. A database is ours when it has the
mark, the version and exactly these definitions."""

from __future__ import annotations

FILE = "orchestration.db"
JOURNAL = f"{FILE}-journal"
BESIDE = (f"{FILE}-wal", f"{FILE}-shm", JOURNAL)  # SQLite's own, next to it
MARK = 0x71727370  # `PRAGMA application_id`: "qrsp"
VERSION = 1  # `PRAGMA user_version`

CONDUCTOR = "task-00"  # the name under which the engine writes messages

STATES = """watching reviewing exit_requested complete working needs_review review_approved
    review_failed error fix_proposed exited""".split()
TYPES = """review_request approval rejection error fix_proposal context_warning completion emergency
    handoff instruction claim_blocked resumption""".split()
# In these states somebody is or should be at work, and sends heartbeats.
BEATING = frozenset(
    "working reviewing review_approved review_failed fix_proposed exit_requested".split()
)
UNDECIDED = ("needs_review", "review_failed", "error")


def _words(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now')"

DEFINITIONS: dict[str, str] = {
    "orchestration_tasks": f"""CREATE TABLE orchestration_tasks (
    task_id TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL DEFAULT 'watching' CHECK (state IN ({_words(STATES)})),
    last_heartbeat TEXT,
    instruction_path TEXT,
    session_id TEXT,
    worked_by TEXT,
    started_at TEXT,
    completed_at TEXT,
    report_path TEXT,
    retry_count INTEGER NOT NULL DEFAULT 0,
    last_error TEXT
)""",
    "orchestration_messages": f"""CREATE TABLE orchestration_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    from_session TEXT,
    message TEXT NOT NULL,
    message_type TEXT NOT NULL CHECK (message_type IN ({_words(TYPES)})),
    timestamp TEXT NOT NULL DEFAULT ({_NOW})
)""",
    "orchestration_reviews": f"""CREATE TABLE orchestration_reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    request_id INTEGER NOT NULL,
    checkpoint INTEGER NOT NULL,
    cycle INTEGER NOT NULL,
    score INTEGER,
    self_reported INTEGER,
    verdict TEXT NOT NULL CHECK (verdict IN ('approve', 'revision', 'reject', 'escalated')),
    anyway INTEGER NOT NULL DEFAULT 0,
    answers TEXT NOT NULL DEFAULT '{{}}',
    decided_by TEXT,
    audited INTEGER NOT NULL DEFAULT 0,
    timestamp TEXT NOT NULL DEFAULT ({_NOW})
)""",
    "orchestration_faults": f"""CREATE TABLE orchestration_faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    old_state TEXT NOT NULL,
    new_state TEXT NOT NULL,
    last_heartbeat TEXT,
    seen INTEGER NOT NULL DEFAULT 0,
    timestamp TEXT NOT NULL DEFAULT ({_NOW})
)""",
    "orchestration_messages_of": """CREATE INDEX orchestration_messages_of
ON orchestration_messages (message_type, task_id)""",
    # A text that is not a time counts as no heartbeat.
    "orchestration_heartbeat": """CREATE TRIGGER orchestration_heartbeat
AFTER UPDATE OF state ON orchestration_tasks
WHEN new.state IS NOT old.state
    AND coalesce(strftime('%s', 'now') - strftime('%s', new.last_heartbeat) > 5, 1)
BEGIN
    INSERT INTO orchestration_faults (task_id, old_state, new_state, last_heartbeat)
    VALUES (new.task_id, old.state, new.state, new.last_heartbeat);
END""",
}

MARKS = (f"PRAGMA application_id = {MARK}", f"PRAGMA user_version = {VERSION}")

_LONGEST = 65536  # characters of a message that are read

ROWS = """SELECT task_id, state, CAST(strftime('%s', last_heartbeat) AS INTEGER)
FROM orchestration_tasks ORDER BY task_id"""
MESSAGES = f"""SELECT id, task_id, message_type, substr(message, 1, {_LONGEST})
FROM orchestration_messages
WHERE message_type IN ('review_request', 'context_warning') ORDER BY id"""
REVIEWS = """SELECT id, task_id, request_id, checkpoint, cycle, score, verdict, anyway
FROM orchestration_reviews ORDER BY id"""
FAULTS = """SELECT id, task_id, old_state, new_state, last_heartbeat, timestamp
FROM orchestration_faults WHERE NOT seen ORDER BY id"""
UNAUDITED = """SELECT id, task_id, checkpoint, cycle, score, verdict, anyway, decided_by
FROM orchestration_reviews WHERE NOT audited ORDER BY id"""

ADD_ROW = """INSERT OR IGNORE INTO orchestration_tasks (task_id, state, last_heartbeat,
instruction_path) VALUES (?, 'watching', ?, ?)"""
BEGIN_WORK = """UPDATE orchestration_tasks
SET state = 'working', last_heartbeat = ?, started_at = coalesce(started_at, ?)
WHERE task_id = ? AND state IN ('watching', 'exited')"""
SET_STATE = "UPDATE orchestration_tasks SET state = ?, last_heartbeat = ? WHERE task_id = ?"
SEND = """INSERT INTO orchestration_messages (task_id, from_session, message, message_type)
VALUES (?, ?, ?, ?)"""
ADD_REVIEW = """INSERT INTO orchestration_reviews (task_id, request_id, checkpoint, cycle, score,
self_reported, verdict, anyway, answers, decided_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
SET_AUDITED = "UPDATE orchestration_reviews SET audited = 1 WHERE id = ?"
SET_SEEN = "UPDATE orchestration_faults SET seen = 1 WHERE id <= ?"
# The engine sets heartbeats by its own clock. It may be fixed, and then differs from the clock that
# the trigger uses.
LAST_FAULT = "SELECT coalesce(max(id), 0) FROM orchestration_faults"
OWN_FAULTS = "DELETE FROM orchestration_faults WHERE id > ?"
