"""What a run with checkpoints does about its database before it goes on with implement."""

from __future__ import annotations

from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.core.model import CheckpointRow, Next, Problem
from qrspi.core.records import task_records
from qrspi.core.steps import next_actions
from qrspi.core.steps.facts import Answer, Facts


def before(facts: Facts, answer: Answer) -> tuple[Answer, tuple[Problem, ...]]:
    """The derived answer, or what comes before it, with warnings about the database."""
    if answer.next.action == "blocked":
        return answer, ()
    board = checkpoint_board.read(facts.tree)
    if isinstance(board, Problem):
        return answer, (board,)
    missing = tuple(key for key in facts.tasks if board is None or key not in board.rows)
    if missing or board is None:
        return Answer(_rows(facts, missing), answer.loop), ()
    rows = tuple(
        row
        for row in checkpoint_board.told(facts.run, board, facts.tree)
        # Nobody will answer the request of a task that a person has ended.
        if not row.kind or task_records.outcome(facts.tree, row.task) is None
    )
    then = _waiting(facts.run, board, rows, answer.next) if answer.next.who == "agent" else None
    gated = answer._replace(next=then or _with_states(answer.next, rows), checkpoints=rows)
    others = (row for row in rows if row.kind and row.command != gated.next.command)
    return gated, tuple(map(_also_waits, others))


def _with_states(sent: Next, rows: tuple[CheckpointRow, ...]) -> Next:
    """Tell whoever sends implementers which of their tasks somebody already works on."""
    if sent.kind != "implement":
        return sent
    asked_for = sent.missing or (sent.step,)
    states = (
        f"{row.task} is {row.state} in {FILE}{_MEANS.get(row.state, '')}"
        for row in rows
        if row.task in asked_for
    )
    return sent._replace(because=(*sent.because, *states))


_MEANS = {"review_failed": ": whoever is at it mends what the review names, and asks again"}


def _also_waits(row: CheckpointRow) -> Problem:
    return Problem("checkpoint-waits", f"{row.summary}: `{row.command}`", FILE, row.task, row.state)


def _rows(facts: Facts, keys: tuple[str, ...]) -> Next:
    listed = ", ".join(keys) or "none yet"
    return next_actions.by_engine(
        facts,
        "dispatch-tasks",
        "checkpoint-rows",
        f"Give each task its row in {FILE} ({listed})",
        (f"gates.checkpoints in config.md is on, and {FILE} lacks {listed}",),
        missing=keys,
    )


def _waiting(run: str, board: Board, rows: tuple[CheckpointRow, ...], sent: Next) -> Next | None:
    """An implementer that waits comes before one that could be sent. People are asked when nobody
    else can go on."""
    stuck = {row.task: row for row in rows if row.kind}
    for task in board.waiting:
        if task in stuck and not checkpoint_board.needs_person(board, task):
            return asked(run, stuck[task])
    held = [stuck[task] for task in board.pending if task in stuck]
    if not held or sent.kind != "implement" or not set(sent.missing or (sent.step,)) <= set(stuck):
        return None
    return asked(run, held[0])


def asked(run: str, row: CheckpointRow) -> Next:
    """What a waiting implementer needs. An agent may review; a person does the rest."""
    ordinary = row.state == "needs_review" and row.kind == "task"
    return Next(
        "decide",
        "agent" if ordinary else "human",
        f"{row.summary}. `qrspi checkpoint list {run} {row.task}` shows what it says; answer with "
        f"`{row.command}`.",
        (f"its state in {FILE} is {row.state}",),
        step=row.task,
        inputs=(FILE, f"tasks/{row.task}.md"),
        command=row.command,
        kind="checkpoint-cap" if row.kind == "cap" else "checkpoint-task",
    )
