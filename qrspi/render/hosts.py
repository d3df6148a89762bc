"""What an installation changes, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from qrspi.core.installing.install_plan import FileChange, Plan
from qrspi.render.terminal import one_line


def document(
    verb: str, host: str, level: str, plan: Plan, *, done: bool, then: str
) -> dict[str, Any]:
    return {
        "schema": f"qrspi/{verb}/v1",
        "host": host,
        "level": level,
        "done": done,
        "files": [
            {"file": change.file, "change": kind(change), "diff": "".join(_diff(change))}
            for change in plan.changes
        ],
        "then": then,
    }


def kind(change: FileChange) -> str:
    if not change.is_change:
        return "unchanged"
    if change.before is None:
        return "created"
    return "removed" if change.after is None else "changed"


def differences(plan: Plan) -> list[str]:
    return [one_line(line.rstrip("\r\n")) for change in plan.changes for line in _diff(change)]


def _diff(change: FileChange) -> Iterator[str]:
    if not change.is_change:
        return
    old = (change.before or "").splitlines(keepends=True)
    new = (change.after or "").splitlines(keepends=True)
    before = change.file if change.before is not None else "/dev/null"
    after = change.file if change.after is not None else "/dev/null"
    for line in unified_diff(old, new, before, after, n=1):
        yield line if line.endswith("\n") else f"{line}\n"


def summary(plan: Plan, *, done: bool) -> list[str]:
    would = "" if done else "would be "
    words = {kind: f"{would}{kind}" for kind in ("created", "changed", "removed")}
    return [f"  {change.file}: {words.get(kind(change), 'as it was')}" for change in plan.changes]
