"""Answer a review request: the verdict, the message and the count in one transaction.

The trail is written after it. A kill in between leaves a review that is marked as not on the trail,
and the next command writes its line.
"""

from __future__ import annotations

import json

from qrspi.core.artifacts.task_file import task_path
from qrspi.core.errors import Refusal, accepted
from qrspi.core.gates.checkpoints import checkpoint_board, checkpoint_ruling
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_ruling import Escalation, Reviewer, Ruling
from qrspi.core.gates.checkpoints.checkpoint_tables import (
    ADD_REVIEW,
    CONDUCTOR,
    FILE,
    LAST_FAULT,
    SEND,
    SET_AUDITED,
    SET_STATE,
    UNAUDITED,
)
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import audit_trail
from qrspi.core.tree import Fault, Rows
from qrspi.handlers.gates import checkpoint_rows
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.world.files import json_log, orchestration_db
from qrspi.world.files.orchestration_db import Transaction
from qrspi.world.machine import git_person
from qrspi.world.runs.workspace import Workspace

_LOOK_BACK = 200  # lines of the trail in which a review may already stand


class Reviewed(NamedTuple):
    ruling: Ruling
    waiting: tuple[str, ...]  # the tasks that still wait


def rehearse(workspace: Workspace, task: str | None, reviewer: Reviewer) -> Reviewed:
    board = checkpoint_rows.board(workspace)
    ruling = _judged(workspace, board, task, reviewer)
    if isinstance(ruling, Escalation):
        raise Refusal(ruling.problem)
    return Reviewed(ruling, tuple(one for one in board.pending if one != ruling.task))


def review(workspace: Workspace, options: Options, task: str | None, said: Reviewer) -> Reviewed:
    checkpoint_rows.board(workspace)
    tell_untold(workspace, options)
    who = git_person.at(workspace.path)
    with orchestration_db.changing(workspace.path, options.lock_timeout) as change:
        board = checkpoint_board.board(*map(change.rows, checkpoint_board.QUERIES))
        ruling = _judged(workspace, board, task, said)
        if isinstance(ruling, Escalation):
            _escalate(change, ruling, who)
        else:
            _answer(change, ruling, said, who)
    tell_untold(workspace, options)
    if isinstance(ruling, Escalation):
        raise Refusal(ruling.problem)
    return Reviewed(ruling, checkpoint_rows.board(workspace).pending)


def _judged(
    workspace: Workspace, board: Board, task: str | None, reviewer: Reviewer
) -> Ruling | Escalation:
    chosen = accepted(checkpoint_ruling.choose(board, task, workspace.name))
    estimate = checkpoint_ruling.estimate(workspace.head(task_path(chosen)))
    ruling = checkpoint_ruling.judge(board, chosen, reviewer, estimate, workspace.name)
    if isinstance(ruling, Problem):
        raise Refusal(ruling)
    return ruling


def _answer(change: Transaction, ruling: Ruling, reviewer: Reviewer, who: str) -> None:
    asked = ruling.asked
    _set_state(change, ruling.task, ruling.state)
    change.run(SEND, ruling.task, CONDUCTOR, ruling.message, ruling.type)
    answers = json.dumps(reviewer.answers or checkpoint_ruling.unanswered())
    change.run(
        ADD_REVIEW,
        *(ruling.task, asked.id, asked.number, asked.cycle),
        *(ruling.score, asked.request.smoothness, ruling.verdict, ruling.anyway, answers, who),
    )


def _escalate(change: Transaction, escalation: Escalation, who: str) -> None:
    """Told once: the next look at the same request adds nothing."""
    asked = escalation.asked
    _set_state(change, asked.task, "error")
    if escalation.is_told:
        return
    change.run(SEND, asked.task, CONDUCTOR, escalation.message, "emergency")
    change.run(
        ADD_REVIEW,
        *(asked.task, asked.id, asked.number, asked.cycle, None),
        *(asked.request.smoothness, "escalated", False, "{}", who),
    )


def _set_state(change: Transaction, task: str, state: str) -> None:
    if checkpoint_rows.states(change)[task] == state:
        return
    before = change.rows(LAST_FAULT)[0][0]
    change.run(SET_STATE, state, checkpoint_rows.heartbeat(), task)
    checkpoint_rows.forgive(change, before)


def tell_untold(workspace: Workspace, options: Options) -> None:
    """Write once to the trail what a kill may have kept from it."""
    untold = _untold(workspace)
    if not untold:
        return
    known = _told_lately(workspace)
    for id, task, number, cycle, score, verdict, anyway, who in untold:
        note = f"review {id}: {_words(number, cycle, score, verdict, anyway)}, by {who}"
        if note not in known:
            performed = Performed("checkpoint-review", task, 0, (), (note,))
            carry_out.tell(workspace, options.actor, performed)
    with orchestration_db.changing(workspace.path, options.lock_timeout) as change:
        for row in untold:
            change.run(SET_AUDITED, row[0])


def _untold(workspace: Workspace) -> Rows:
    rows = workspace.rows(FILE, UNAUDITED)
    return () if isinstance(rows, Fault) else rows[0]


def _told_lately(workspace: Workspace) -> frozenset[str]:
    lines = json_log.tail(workspace, audit_trail.FILE, _LOOK_BACK)
    read = (
        audit_trail.read(line.record, line.line) for line in lines if not isinstance(line, Problem)
    )
    return frozenset(note for one in read if not isinstance(one, Problem) for note in one.notes)


def _words(number: int, cycle: int, score: int | None, verdict: str, anyway: int) -> str:
    how = "no score" if score is None else f"smoothness {score}"
    person = ", a person's word after too many requests" if anyway else ""
    return f"checkpoint {number}, request {cycle}: {verdict} ({how}){person}"
