"""Before a tool: refuse what would break the order of a run, and let everything else pass."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from qrspi.core.hosts import tool_call
from qrspi.core.hosts.answers import HostName, refused
from qrspi.core.hosts.tool_call import ToolCall
from qrspi.core.hosts.work_limit import TooMuch
from qrspi.core.hosts.written_files import Write, run_file


def answer(payload: Mapping[str, Any], host: HostName) -> dict[str, Any] | None:
    call = tool_call.read(payload)
    try:
        writes = _writes(call)
    except (RecursionError, TooMuch):
        return refused(host, _TOO_MUCH)
    if not writes:
        return None
    # Only now: a call that names no file of a run is answered without importing any of it.
    from qrspi.hooks import run_guard

    reason = run_guard.reason(writes, call.cwd)
    return refused(host, reason) if reason else None


# Beside these, a wildcard or all that is there may stand for a run.
UNNAMED = ("approved", "--hard", "git clean")
_TOO_MUCH = (
    "this command names qrspi, and is too long or too tangled to see in time what it writes. "
    "Give it as several commands, or write the file with the tool for that."
)


def _writes(call: ToolCall) -> tuple[Write, ...]:
    if not call.command:
        return tuple(write for write in call.writes if run_file(_real(write.path)))
    named = "qrspi" in call.command or "docs/qrspi" in os.path.realpath(call.cwd)
    named = named or (any(word in call.command for word in UNNAMED) and _has_runs(call.cwd))
    # Agents give a qrspi command by itself all the time: nothing else is written by it.
    is_ours = call.command.startswith("qrspi ") and not set(call.command) & set(">|;&\n`$(")
    if not named or is_ours:
        return ()
    from qrspi.core.hosts import shell_writes
    from qrspi.world.runs import project_search

    known = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    top = project_search.top(call.cwd) or call.cwd
    found = shell_writes.writes(call.command, call.cwd, known, top)
    return tuple(one for one in found if "qrspi" in _real(one.path) or set(one.path) & set("*?["))


def _has_runs(cwd: str) -> bool:
    from qrspi.world.runs import project_search

    return project_search.with_runs(cwd) is not None


def _real(path: str) -> str:
    """No file has a NUL in its name: such a path must not hide the others of its command."""
    return os.path.realpath(path.replace("\0", ""))
