"""The trail of what the engine changed. It explains; it never decides."""

from __future__ import annotations

from qrspi.core.records import audit_trail as trail
from qrspi.core.records.audit_trail import FILE, Line, Touched
from qrspi.handlers.jobs.job import Performed
from qrspi.world.files import json_log as applog
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


def record(workspace: Workspace, actor: str, done: Performed, outcome: str = "done") -> None:
    """One line for one thing done; nothing when nothing changed since the last line."""
    changes = tuple(workspace.changes)
    workspace.changes.clear()
    if not changes:
        return
    line = Line(
        time=clock.now_utc(),
        actor=actor,
        event=done.handler,
        step=done.step,
        round=done.round or None,
        files=tuple(Touched(*change) for change in changes),
        outcome=outcome,
        notes=done.notes,
    )
    workspace.append(FILE, applog.encode(trail.render(line)))
