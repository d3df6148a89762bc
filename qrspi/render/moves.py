"""Decisions that people made, or would make with --dry-run: what changes, file by file."""

from __future__ import annotations

from typing import Any

from qrspi.core.model import Next
from qrspi.handlers.moves import Done, Edit, Move
from qrspi.render import states
from qrspi.render.columns import table
from qrspi.render.escape import one_line


def document(
    verb: str, run: str, move: Move, done: Done | None, answer: Next, **more: Any
) -> dict[str, Any]:
    """`done` is None where nothing was done."""
    return {
        "schema": f"qrspi/{verb}/v1",
        "run": run,
        "step": move.step,
        "round": move.round or None,
        **more,
        "dry_run": done is None,
        "changes": [_change(edit) for edit in move.edits],
        "message": move.message or None,
        "commit": done.commit if done else None,
        "notes": list(done.performed.notes if done else move.notes),
        "next": states.next_document(answer),
    }


def _change(edit: Edit) -> dict[str, str]:
    return {"change": edit.kind, "file": edit.path, "what": edit.what}


def lines(move: Move, done: Done | None, *, in_git: bool) -> list[str]:
    """What changed; with --dry-run what would, file by file."""
    if done is None:
        rows = [(edit.kind, edit.path, edit.what) for edit in move.edits]
        drawn = [f"  {line}" for line in table(("CHANGE", "FILE", "WHAT"), rows, 1000)[1:]]
        return [*drawn, f"  commit: {one_line(move.message)}"] if move.message and in_git else drawn
    shown = [f"  {one_line(name)}" for name in move.files]
    return shown + ([f"  committed as {done.commit[:12]}"] if done.commit else [])
