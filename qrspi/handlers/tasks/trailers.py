"""The line by which the engine knows a merge of its own: in the message, with run, task and tip."""

from __future__ import annotations

from qrspi.core.code_steps.task_state import TaskState
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, refs

_WORD = "QRSPI-Merge: "


def line(job: Job, key: str, tip: str) -> str:
    return f"{_WORD}{job.run}/{key} {tip}"


def merged_key(job: Job, place: Workplace, merge: str) -> str:
    """The task that this merge of ours is of; '' for one that somebody made by hand."""
    lines = commits.message_of(place.repo, merge).splitlines()
    begin = f"{_WORD}{job.run}/"
    texts = (line.removeprefix(begin) for line in lines if line.startswith(begin))
    return next(texts, "").rpartition(" ")[0]


def tip_before(job: Job, place: Workplace, task: TaskState, base: str, commit: str) -> str:
    """What was merged of this task when it was merged the last time before; '' for nothing."""
    merge = refs.merge_saying(place.repo, line(job, task.key, ""), f"{commit}^1")
    tip = refs.resolve(place.repo, f"{merge}^2") if merge else None
    if not tip or not refs.is_ancestor(place.repo, base, tip):
        return ""
    said = commits.message_of(place.repo, merge).splitlines()
    return tip if line(job, task.key, tip) in said else ""
