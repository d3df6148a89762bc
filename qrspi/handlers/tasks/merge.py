"""Merge finished tasks into the feature branch, in the order of their waves.

Each merge is on record before the next is tried. A merge with conflicts is undone and becomes a
task for somebody to do by hand.
"""

from __future__ import annotations

from qrspi.core.code_steps import gate_records
from qrspi.core.code_steps.gate_records import Merge
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.text import shell_words
from qrspi.core.text.plain_diff import as_text
from qrspi.core.text.shortened import few
from qrspi.handlers.changes import code_repository, merged_work, review_target, task_base
from qrspi.handlers.changes.change_set import commit_files
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import drafts, repairs, trailers
from qrspi.world.git import diffs, merges, refs, worktrees
from qrspi.world.git.merges import Conflict, Merged, UpToDate


def handle(job: Job) -> Performed:
    step = job.facts.step
    place = code_repository.find(job)
    verb = f"run `qrspi next {job.run}`"
    waiting = merged_work.waiting(job, place)
    if waiting:
        code_repository.named(job, place)
    code_repository.checked_out(job, place.repo, place.feature, verb)
    files, notes = [STEP[step].artifact], list[str]()
    notes += _whole(job, place, waiting[0], verb) if waiting else []
    code_repository.clean(job, place, verb)
    if waiting:
        code_repository.unstaged(place, verb)
    _record(job, place, ())
    for task in waiting:
        try:
            merge = _merge(job, place, task)
        except Refusal:
            if not notes:
                raise
            break  # the merges before are put on record; the next turn says why this one is none
        if isinstance(merge, Conflict):
            merge = merge._replace(files=tuple(map(as_text, merge.files)))
            files.append(_conflict(job, place, task, merge))
            listed = ", ".join(merge.files)
            notes.append(f"{task.key} conflicts with {place.feature} in {listed}")
            break
        _record(job, place, (merge,))
        notes.append(_told(merge, place))
    commit_files(job, files, f"draft {step}")
    return Performed("merge", step, 0, tuple(files), tuple(notes))


def _whole(job: Job, place: Workplace, task: TaskState, verb: str) -> list[str]:
    """Without what a killed command left of its merge."""
    back = merges.settle(place.repo, task.commit, verb, job.options.lock_timeout)
    what = f"{few(back)} was as {task.key} has it and not committed: put back, to merge it whole"
    return [what] if back else []


def _told(merge: Merge, place: Workplace) -> str:
    what = f"{merge.key} ({merge.branch} at {merge.tip[:12]})"
    if merge.commit:
        return f"merged {what} into {place.feature} as {merge.commit[:12]}"
    return f"{place.feature} has {what} already"


def _record(job: Job, place: Workplace, merges_made: tuple[Merge, ...]) -> None:
    before = gate_records.merges(job.workspace.read(STEP[job.facts.step].artifact))
    merges = {merge.key: merge for merge in (*before, *merges_made)}
    block = gate_records.merges_block(merges.values())
    drafts.write(job, job.facts.step, block, {"feature_branch": place.feature})


def _merge(job: Job, place: Workplace, task: TaskState) -> Merge | Conflict:
    assert task.start is not None  # a task with a commit was started
    branch = task.start.branch
    base = task_base.find(job, task.key, task.start, task.commit).commit
    _must_be_shown(job, place, task, base)
    # The trailer tells a merge that a killed command made from somebody else's.
    trailer = trailers.line(job, task.key, task.commit)
    message = f"Merge {branch} into {place.feature}\n\n{trailer}"
    match merges.merge(place.repo, (task.commit,), message):
        case Conflict() as conflict:
            return conflict
        case Merged(commit):
            _must_be_seen(job, place, task, base, commit)
            _must_be_whole(job, place, task, base, commit)
            _must_leave_runs(job, place, task, commit)
            return Merge(task.key, branch, task.commit, commit)
        case UpToDate():
            earlier = refs.came_with(place.repo, task.commit)
            if earlier and trailers.merged_key(job, place, earlier) == task.key:
                _must_be_seen(job, place, task, base, earlier)
                _must_leave_runs(job, place, task, earlier)
                return Merge(task.key, branch, task.commit, earlier)
            _must_be_whole(job, place, task, base, "")
            return Merge(task.key, branch, task.commit, "", result="contained")


def _must_be_shown(job: Job, place: Workplace, task: TaskState, base: str) -> None:
    """The base of the clean round was derived from files that may have been changed since."""
    manifest = task.loop.manifest if task.loop and task.state == "clean" else None
    shown = manifest.choice.ref_commit if manifest else ""
    if not shown or refs.is_ancestor(place.repo, shown, base):
        return
    hint = f"qrspi round prepare {job.run} {task.key} --anyway"
    text = (
        f"{task.key}: its reviewers were shown what is new since {shown[:12]}, but it began at "
        f"{base[:12]}, so nobody saw what lies between: `{hint}` has it reviewed again"
    )
    raise Refusal(Problem("not-reviewed", text, found=shown, expected=base, hint=hint))


def _must_leave_runs(job: Job, place: Workplace, task: TaskState, commit: str) -> None:
    """Otherwise an implementer, alone in its work tree, could write records by a merge."""
    folder = review_target.runs_in(place.repo, job)
    files = diffs.names(place.repo, (f"{commit}^1", commit), folder) if folder else ()
    if not files:
        return
    if refs.head(place.repo) == commit:
        worktrees.move(place.repo, f"{commit}^1")
    report = f"qrspi task report {job.run} {task.key} --status DONE --commit HEAD"
    hint = f"qrspi rewind {job.run} --to implement"
    text = (
        f"{task.key}: to merge it changes {few(files)}, which no task writes; make the work "
        f"again without {folder}, report it with `{report}`, and `{hint}` has it reviewed"
    )
    raise Refusal(Problem("outside-the-task", text, files[0], found=commit, hint=hint))


def _must_be_seen(job: Job, place: Workplace, task: TaskState, base: str, commit: str) -> None:
    """git compares with the last common ancestor, reviewers with the commit where the task began. A
    merge in the task's own history moves the first but not the second. Work of others that this
    merge left out would be removed here, without any reviewer having seen it. A driver or a hook
    may also add lines of its own."""
    before = trailers.tip_before(job, place, task, base, commit)
    files = _unseen(place, task, commit, (base, before))
    if not files:
        return
    if refs.head(place.repo) == commit:
        worktrees.move(place.repo, f"{commit}^1")
    report = f"qrspi task report {job.run} {task.key} --status DONE --commit HEAD"
    hint = f"qrspi rewind {job.run} --to implement"
    text = (
        f"{task.key}: to merge it changes {', '.join(files[:3])} in {place.feature} in a way that "
        f"its reviewers were not shown, as no diff since {base[:12]} has it; make the work again "
        f"on top of {before[:12] or place.feature} without merges of its own, report it with "
        f"`{report}`, and `{hint}` has it reviewed"
    )
    raise Refusal(Problem("not-reviewed", text, files[0], found=commit, expected=base, hint=hint))


def _unseen(
    place: Workplace, task: TaskState, commit: str, since: tuple[str, str]
) -> tuple[str, ...]:
    """Reviewers who saw all of a task as it was merged before, and all of it as it is now, have
    seen what lies between. That may only be held against changes of this task alone."""
    base, before = since
    change = (f"{commit}^1", commit)
    files = diffs.unseen(place.repo, change, [(base, task.commit)])
    if not files or not before or not _is_own(place, task, change, before):
        return files
    again = diffs.unseen(place.repo, change, [(before, task.commit)])
    return tuple(name for name in files if name in again)


def _is_own(place: Workplace, task: TaskState, change: tuple[str, str], before: str) -> bool:
    """It was made on nothing but what is merged of it, or in files that are as it left them."""
    there, _ = change
    if refs.merge_bases(place.repo, there, task.commit) == (before,):
        return True
    others = {*diffs.names(place.repo, (before, there), ".")}
    return others.isdisjoint(diffs.names(place.repo, change, "."))


def _must_be_whole(job: Job, place: Workplace, task: TaskState, base: str, commit: str) -> None:
    """A merge in another task can take this one's commits in without what they changed."""
    inside = refs.merge_base(place.repo, f"{commit}^1", task.commit) if commit else task.commit
    if inside is None or refs.is_ancestor(place.repo, inside, base):
        return
    by = refs.came_with(place.repo, inside)
    other = trailers.merged_key(job, place, by) if by else ""
    if not by or other in ("", task.key) or other.endswith(f"/{_repair(task)}"):
        return
    files = diffs.unseen(place.repo, (base, inside), [(f"{by}^1", "HEAD")])
    if not files:
        return
    if commit:
        worktrees.move(place.repo, f"{commit}^1")
    hint = shell_words.git(place.repo.root, "checkout", task.commit, "--", *files)
    text = (
        f"{task.key}: {place.feature} has its commit {inside[:12]} by the merge of {other}, whose "
        f"branch left out what that changed in {', '.join(files[:3])}; put it back on "
        f"{place.feature} with `{hint}`, look at it and commit it, then run `qrspi next {job.run}`"
    )
    raise Refusal(Problem("work-left-out", text, files[0], found=by, expected=inside, hint=hint))


def _repair(task: TaskState) -> str:
    return f"merge-{task.key.replace('/', '-')}"


def _conflict(job: Job, place: Workplace, task: TaskState, conflict: Conflict) -> str:
    assert task.start is not None
    branch = task.start.branch
    listed = "\n".join(f"- `{name}`" for name in conflict.files)
    body = f"""\
Merging branch `{branch}` ({task.key}: {task.item.title}) into `{place.feature}` conflicts in:

{listed}

## What to do

The work tree of this task starts at the tip of `{place.feature}`. Run `git merge {task.commit}` in
it, resolve the conflict so that what both sides were made for still holds, run the tests, and
commit the merge.

## Acceptance Criteria

- `git merge-base --is-ancestor {task.commit} HEAD` succeeds.
- No conflict marker is left, and the tests of both sides pass.
"""
    path = repairs.write(
        job,
        "integration",
        _repair(task),
        f"Merge {task.key} into {place.feature}",
        body,
        conflict.files,
    )
    _record(job, place, (Merge(task.key, branch, task.commit, "", "conflict"),))
    return path
