"""One artifact returned to draft; nothing else is reset."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.steps import permits
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.jobs.job import Job


def plan(job: Job, step: str, who: str = "") -> Move:
    problem = permits.unapprove(job.facts, step)
    about = records.mark(job.workspace, step)
    known = records.is_newest(job, "unapprove", about)
    if problem and not (known and _is_half_done(job, step)):
        raise Refusal(problem)
    record = () if known else (records.line(job, "unapprove", about, who),)
    edits = (*record, *moves.to_draft(job.workspace, step))
    return _move(job, step, edits, about.round, problem)


def _is_half_done(job: Job, step: str) -> bool:
    """The artifact is a draft again, and its tasks or its commit are still to be made so."""
    if moves.to_draft(job.workspace, step):
        return True
    artifact = STEP[step].artifact
    return moves.in_git(job) and (
        moves.committed_status(job, artifact) == "approved" or moves.is_behind(job, artifact)
    )


def _move(
    job: Job, step: str, edits: tuple[moves.Edit, ...], number: int, otherwise: Problem | None
) -> Move:
    covers = (STEP[step].artifact, *(moves.tasks(job.workspace) if step == "plan" else ()))
    text = moves.message("unapprove", step, job.run)
    return Move("unapprove", step, number, edits, text, covers, otherwise)
