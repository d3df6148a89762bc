"""Decisions that people made, or would make with --dry-run: what changes, file by file."""

from __future__ import annotations

from typing import Any

from qrspi.core.model import Next, Problem
from qrspi.engine import Outcome
from qrspi.handlers.changes.change_set import Done, Edit, Move
from qrspi.render import outcomes, problems
from qrspi.render import run_page as states
from qrspi.render.columns import table
from qrspi.render.safe_text import one_line


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
    committed = [f"  committed as {done.commit[:12]}"] if done.commit else []
    return [*_touched(move), *committed]


def went_document(outcome: Outcome, trouble: Problem | None) -> dict[str, Any]:
    """How far the run went on by itself behind a decision."""
    return {
        "performed": [outcomes.performed(done) for done in outcome.performed],
        "warnings": [problems.warning(trouble)] if trouble else [],
    }


def went_lines(outcome: Outcome, trouble: Problem | None) -> list[str]:
    lines = [f"done: {outcomes.title(done)}" for done in outcome.performed]
    if trouble:
        lines.append(f"warning: the approval stands, but next stopped: {one_line(trouble.message)}")
    return [*lines, "", *states.next_lines(outcome.state.next)]


def _touched(move: Move) -> list[str]:
    """What a file is named for in the end; one that comes and goes within a move is not."""
    kinds = {path: [e.kind for e in move.edits if e.path == path] for path in move.files}
    brief = {path for path, kind in kinds.items() if kind[0] != "remove" == kind[-1]}
    return [
        f"  {one_line(path)}{' (removed)' if kind[-1] == 'remove' else ''}"
        for path, kind in kinds.items()
        if path not in brief
    ]
