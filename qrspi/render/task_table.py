"""Tasks by wave: where each stands, as a document and as a table."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.code_steps import implementers
from qrspi.core.derivation import option_commands
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.render import run_page
from qrspi.render.terminal import cells_of, fitted, table

if TYPE_CHECKING:
    from qrspi.core.code_steps.task_state import TaskState
    from qrspi.handlers.tasks.clean import Left
    from qrspi.handlers.tasks.start import Started


def document(run: str, task: TaskState, merged: frozenset[str]) -> dict[str, Any]:
    start, report = task.start, task.report
    return {
        "task": task.key,
        "file": task.item.file,
        "title": task.item.title,
        "wave": task.item.wave,
        "state": task.state,
        "terminal": task.terminal,
        "because": list(task.because),
        "base": _base(task),
        "base_commit": start.base_commit if start else None,
        "branch": start.branch if start else task.item.branch or None,
        "worktree": start.worktree if start else None,
        "needs": list(task.item.needs),
        "first_tests": implementers.first_tests(task),
        "report": report.status if report else None,
        "commit": task.commit or None,
        "merged": task.key in merged,
        "round": task.loop.round if task.loop and task.loop.round else None,
        "outcome": task.outcome.ending if task.outcome else None,
        "reason": task.outcome.reason if task.outcome else None,
        "next": _next(run, task),
    }


def _next(run: str, task: TaskState) -> dict[str, Any] | None:
    return run_page.next_document(option_commands.named(run, task.next)) if task.next else None


def _base(task: TaskState) -> str:
    """What it began with, as soon as it has begun."""
    return (task.start and task.start.base) or task.item.base_words


def lines(tasks: Iterable[TaskState], merged: frozenset[str], width: int) -> list[str]:
    rows = [
        (
            "fix" if task.item.is_repair else str(task.item.wave),
            task.key,
            f"{task.state}, merged" if task.key in merged else task.state,
            str(task.loop.round) if task.loop and task.loop.round else "-",
            task.commit[:12] or "-",
            _base(task),
            task.item.title,
        )
        for task in tasks
    ]
    if not rows:
        return ["There are no tasks yet: they come with the plan."]
    columns = list(zip(_COLUMNS, *rows, strict=True))
    for left_out in (None, *_SPARED):
        columns = [column for column in columns if column[0] != left_out]
        head, *body = zip(*columns, strict=True)
        drawn = table(head, body, 1000)
        if max(map(cells_of, drawn)) <= width:
            return drawn
    return [fitted(line, width) for line in drawn]


_COLUMNS = ("WAVE", "TASK", "STATE", "ROUND", "COMMIT", "BASE", "TITLE")
_SPARED = ("BASE", "COMMIT", "ROUND", "WAVE")  # in this order, where a title would be cut


def seen_lines(tasks: Iterable[TaskState]) -> list[str]:
    lines: list[str] = []
    for task in tasks:
        if task.terminal and (seen := implementers.first_tests(task)):
            lines.append(f"{task.key}: the tests before its code {implementers.SEEN_BEFORE[seen]}")
    return lines


def started(task: Started) -> dict[str, Any]:
    return {
        "task": task.key,
        "branch": task.start.branch,
        "base": task.start.base,
        "base_commit": task.start.base_commit or None,
        "worktree": task.start.worktree,
        "how": task.how,
    }


def started_line(one: Started, *, dry_run: bool) -> str:
    verb = f"would be {one.how}" if dry_run else one.how
    return f"{one.key}: {verb}: {one.start.worktree} on {one.start.branch}, from {one.start.base}"


def left(branch: Left) -> dict[str, str | None]:
    return {
        "worktree": branch.worktree or None,
        "branch": branch.branch or None,
        "commit": branch.commit or None,
        "because": branch.keep or "it is merged",
    }


def left_line(branch: Left, *, dry_run: bool) -> str:
    if branch.keep:
        return f"kept: {branch.words}: {branch.keep}"
    verb = "would remove" if dry_run else "removed"
    return f"{verb}: {branch.words}, at {branch.commit[:12]}"
