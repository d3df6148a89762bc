"""The trail of what the engine changed. It explains; it never decides."""

from __future__ import annotations

import json

from qrspi.handlers.job import Performed
from qrspi.world import clock
from qrspi.world.workspace import Change, Workspace

FILE = ".qrspi/audit.jsonl"


def record(workspace: Workspace, actor: str, done: Performed, outcome: str = "done") -> None:
    """One line for one thing done; nothing when nothing changed."""
    changes = [change for change in workspace.changes if not change.path.startswith(".qrspi/")]
    if not changes and outcome == "done":
        return
    line = {
        "time": clock.now_utc(),
        "actor": actor,
        "event": done.handler,
        "step": done.step,
        "round": done.round or None,
        "files": [_file(change) for change in changes],
        "outcome": outcome,
        "notes": list(done.notes),
    }
    workspace.append(FILE, (json.dumps(line, ensure_ascii=False) + "\n").encode())


def _file(change: Change) -> dict[str, str | None]:
    shown: dict[str, str | None] = {
        "path": change.path,
        "before": change.before,
        "after": change.after,
    }
    return {**shown, "moved_to": change.moved_to} if change.moved_to else shown
