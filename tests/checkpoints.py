"""What implementers write into orchestration.db, word for word as their instructions say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

REQUEST = """REVIEW REQUEST (Smoothness: {smoothness}/9):
  Checkpoint: {checkpoint}
  Context Usage: {usage}%
  Self-Correction: {corrected}
  Deviations: 1 (low — a name)
  Agents Remaining: 2 (~5% each, ~10% total)
  Proposal: docs/proposal.md
  Summary: links are kept
  Files Modified: 2
  Tests: passing (3 total, 1 new)
  Key Outputs:
    - src/links.py (created)"""

ASK = """UPDATE orchestration_tasks
SET state = 'needs_review', last_heartbeat = datetime('now')
WHERE task_id = '{task-id}';

INSERT INTO orchestration_messages (task_id, from_session, message, message_type) VALUES (
    '{task-id}', 'session-7',
    '{message}',
    'review_request'
);
"""


def request(
    smoothness: object = 2, checkpoint: str = "1 of 2", corrected: str = "NO", usage: int = 40
) -> str:
    return REQUEST.format(
        smoothness=smoothness, checkpoint=checkpoint, corrected=corrected, usage=usage
    )


def script(database: Path, sql: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.executescript(sql)


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def ask(database: Path, task: str = "task-01", text: str | None = None) -> None:
    said = request() if text is None else text
    quoted = said.replace("'", "''")
    script(database, ASK.replace("{task-id}", task).replace("{message}", quoted))


def states(database: Path) -> dict[str, str]:
    return dict(rows(database, "SELECT task_id, state FROM orchestration_tasks ORDER BY 1"))


def messages(database: Path, kind: str) -> list[str]:
    query = f"SELECT message FROM orchestration_messages WHERE message_type = '{kind}' ORDER BY id"
    return [text for (text,) in rows(database, query)]
