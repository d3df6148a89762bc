"""What the record of merges says is merged, held against git: a row is a word that anybody can
write."""

from __future__ import annotations

from qrspi.core.code_steps import integrate
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.handlers.changes import code_repository
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import refs

STEPS = ("integrate", "test")


def waiting(job: Job, place: Workplace) -> tuple[TaskState, ...]:
    """In the order of merging: what no row calls merged, and what the branch does not have."""
    wanted = integrate.work(job.facts).wanted
    untold = {task.key for task in integrate.pending(job.workspace, wanted)}
    told = [task.commit for task in wanted if task.key not in untold]
    lacking = refs.lacking(place.repo, told, place.tip)
    return tuple(task for task in wanted if task.key in untold or task.commit in lacking)


def only_said(job: Job) -> tuple[TaskState, ...]:
    """Of those, the ones that a row calls merged."""
    if job.facts.step not in STEPS:
        return ()
    work = integrate.work(job.facts)
    untold = {task.key for task in integrate.pending(job.workspace, work.wanted)}
    if work.unfinished or all(task.key in untold for task in work.wanted):
        return ()  # nothing is merged before all tasks are at their end
    left = waiting(job, code_repository.find(job))
    return tuple(task for task in left if task.key not in untold)


def refuse_only_said(job: Job, step: str) -> None:
    if step == job.facts.step and (left := only_said(job)):
        record, command = STEP[step].artifact, f"qrspi next {job.run}"
        keys = ", ".join(task.key for task in left)
        text = f"{record} says that {keys} is merged, and the feature branch does not have its "
        text += f"commit: `{command}` merges it"
        raise Refusal(Problem("work-left-out", text, record, found="merged", hint=command))
