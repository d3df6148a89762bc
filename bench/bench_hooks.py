"""Hooks of hosts: what is paid before every edit of a session, and at its start and stop."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lab import QRSPI, Lab, Measure

GOAL = 2.5


def measure(lab: Lab) -> Iterator[Measure]:
    """In a project without runs, and so with nothing to say."""
    project = lab.scratch / "project"
    project.mkdir()
    call = {"file_path": f"{project}/a.py", "old_string": "one", "new_string": "two"}
    payload = {"cwd": str(project), "tool_name": "Edit", "tool_input": call}
    (project / "payload.json").write_text(json.dumps(payload))
    for event in ("pre-tool", "stop", "session-start"):
        line = f"exec {QRSPI} hook {event} --host claude-code < payload.json"
        yield lab.cold(f"hook {event}, nothing to say", ["sh", "-c", line], project, GOAL)
