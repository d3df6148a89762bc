"""Tasks whose texts have no PASS: better texts first, or as they are."""

from __future__ import annotations

from qrspi.core.filenames import slug_of
from qrspi.core.records.quality_blocks import FILE
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.gates import quality
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More


def plan(job: Job, key: str, more: More) -> ChangeSet:
    tasks = job.next.missing
    if key == "refine":
        files = ", ".join(job.next.inputs)
        said = f"nothing was changed: edit {files}, then run `qrspi quality batch {job.run}`"
        return ChangeSet("refine", "implement", 0, (), notes=(said,))
    listed = ", ".join(tasks) if len(tasks) < 6 else f"{len(tasks)} tasks"
    message = f"docs(qrspi): proceed with {listed} for {slug_of(job.run)}"
    edits = quality.proceed(job, tasks, more.who)
    return ChangeSet("proceed", "implement", 0, edits, message, (FILE,), concerns=tasks)
