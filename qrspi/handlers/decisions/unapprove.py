"""One artifact returned to draft; nothing else is reset."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.pipeline import STEP
from qrspi.core.records.approvals import Record
from qrspi.core.steps import permits
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.jobs.job import Job


def plan(job: Job, step: str, who: str = "") -> ChangeSet:
    problem = permits.unapprove(job.facts, step)
    about = change_set.mark(job.workspace, step)
    known = change_set.is_newest_record(job, "unapprove", about)
    if problem and not (known and _is_half_done(job, step)):
        raise Refusal(problem)
    record = () if known else (change_set.on_record(job, Record("unapprove", *about), who),)
    return ChangeSet(
        handler="unapprove",
        step=step,
        round=about.round,
        edits=(*record, *change_set.to_draft(job.workspace, step)),
        message=change_set.message("unapprove", step, job.run),
        covers=change_set.approved_together(job.workspace, step),
        otherwise=problem,
    )


def _is_half_done(job: Job, step: str) -> bool:
    """The artifact is a draft again, and its tasks or its commit are still to follow."""
    drafts = change_set.to_draft(job.workspace, step)
    return bool(drafts) or change_set.lacks_commit(job, STEP[step].artifact, approved=False)
