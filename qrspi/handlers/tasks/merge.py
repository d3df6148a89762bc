"""Merge finished tasks into the feature branch, in the order of their waves.

Each merge is on record before the next is tried. One that conflicts is taken back, and becomes a
task that somebody does by hand.
"""

from __future__ import annotations

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import integrate as integration
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.pipeline import STEP
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import gate_record, repair_files
from qrspi.world.git import commits, worktrees
from qrspi.world.git.worktrees import Conflict, Merged, UpToDate


def handle(job: Job) -> Performed:
    step = job.facts.step
    found = workplace.find(job)
    verb = f"run `qrspi next {job.run}`"
    workplace.checked_out(found, verb)
    workplace.clean(job, found, verb)
    files, notes = [STEP[step].artifact], []
    waiting = integration.pending(job.workspace, integration.work(job.facts).wanted)
    if waiting:
        workplace.unstaged(found, verb)
    _record(job, found, ())
    for task in waiting:
        merge = _merge(job, found, task)
        if isinstance(merge, Conflict):
            files.append(_conflict(job, found, task, merge))
            listed = ", ".join(merge.files)
            notes.append(f"{task.key} conflicts with {found.feature} in {listed}")
            break
        _record(job, found, (merge,))
        notes.append(f"{task.key}: {merge.result} {merge.commit[:12]}".strip())
    gate_record.commit(job, f"draft {step}", files)
    return Performed("merge", step, len(_own(job)), tuple(files), tuple(notes))


def _own(job: Job) -> tuple[Merge, ...]:
    return gaterecords.merges(job.workspace.read(STEP[job.facts.step].artifact))


def _record(job: Job, found: Workplace, made: tuple[Merge, ...]) -> None:
    merges = {merge.key: merge for merge in (*_own(job), *made)}
    block = gaterecords.merges_block(merges.values())
    gate_record.write(job, job.facts.step, block, {"feature_branch": found.feature})


def _merge(job: Job, found: Workplace, task: TaskState) -> Merge | Conflict:
    assert task.start is not None  # a task with a commit was started
    branch = task.start.branch
    # Tells a merge that a killed command made from one that somebody else did.
    trailer = f"QRSPI-Merge: {job.run}/{task.key} {task.commit}"
    message = f"Merge {branch} into {found.feature}\n\n{trailer}"
    match worktrees.merge(found.repo, (task.commit,), message):
        case Conflict() as conflict:
            return conflict
        case Merged(commit):
            return Merge(task.key, branch, task.commit, commit)
        case UpToDate():
            made = commits.find(found.repo, (trailer,))
            merge = Merge(task.key, branch, task.commit, made or "")
            return merge if made else merge._replace(result="contained")


def _conflict(job: Job, found: Workplace, task: TaskState, conflict: Conflict) -> str:
    assert task.start is not None
    branch = task.start.branch
    path = repair_files.write(
        job,
        "integration",
        f"merge-{task.key.replace('/', '-')}",
        f"Merge {task.key} into {found.feature}",
        _order(found, branch, task, conflict),
        conflict.files,
    )
    _record(job, found, (Merge(task.key, branch, task.commit, "", "conflict"),))
    return path


def _order(found: Workplace, branch: str, task: TaskState, conflict: Conflict) -> str:
    listed = "\n".join(f"- `{name}`" for name in conflict.files)
    return f"""\
Merging branch `{branch}` ({task.key}: {task.item.title}) into `{found.feature}` conflicts in:

{listed}

## What to do

The work tree of this task starts at the tip of `{found.feature}`. Run `git merge {task.commit}` in
it, resolve the conflict so that what both sides were made for still holds, run the tests, and
commit the merge.

## Acceptance Criteria

- `git merge-base --is-ancestor {task.commit} HEAD` succeeds.
- No conflict marker is left, and the tests of both sides pass.
"""
