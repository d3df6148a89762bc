"""The code that a task's reviewers look at: the files its round's diff is about."""

from __future__ import annotations

from qrspi.core.agents.prompts import Source
from qrspi.core.text import diff_files as diffnames
from qrspi.core.tree import Fault
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import reports as task_records
from qrspi.world.files.run_tree import DiskTree

DIFF_LIMIT = 16 * 1024 * 1024
FILE_LIMIT = 256 * 1024
WHOLE_LIMIT = 1024 * 1024


def worktree(job: Job) -> str:
    """Where the task is done; '' before it was started."""
    start = task_records.state_of(job, job.round_loop.subject.key).start
    return f"{workplace.repository_of(job).root}/{start.worktree}" if start else ""


def sources(job: Job, folder: str) -> tuple[Source, ...]:
    """Whole files, as far as there is room for them; the others by name. Who has a file system
    opens those, who has none knows what it did not see."""
    diff = job.workspace.read(job.round_loop.paths.diff, DIFF_LIMIT)
    names = () if isinstance(diff, Fault) or not folder else diffnames.changed(diff)
    tree = DiskTree(folder)
    found, left_out, room = [], [], WHOLE_LIMIT
    for name in names:
        data = tree.read(name, min(FILE_LIMIT, room))
        if isinstance(data, Fault):
            left_out.append(name)
        else:
            found.append(Source(name, data))
            room -= len(data)
    if left_out:
        found.append(Source("files-not-shown", "\n".join(left_out).encode()))
    return tuple(found)
