"""Whether a work tree holds what a commit has: whoever opens its files must not see others."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.text.plain_diff import as_text
from qrspi.core.text.shell_words import quoted
from qrspi.core.text.shortened import few
from qrspi.handlers.changes import code_repository
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import refs, tracked_files, worktrees
from qrspi.world.git.repository import Repo

LISTED = 5  # names of files that one line has room for


def difference(own: Repo, commit: str, *, new: bool) -> str:
    """In words; '' when there is none. `new` files, which git does not track, are often only what
    a run of the tests left."""
    beside = worktrees.uncommitted(own) if new else worktrees.dirty(own)
    left = [as_text(name) for name in (*beside, *tracked_files.hidden_changes(own))]
    if left:
        return f"not committed there: {few(left, LISTED)}"
    head = refs.head(own) or ""
    return "" if head == commit else f"HEAD there is {head[:12]}"


def refuse_other(job: Job, key: str, own: Repo, commit: str) -> None:
    """Reviewers and verifiers of a task read its code there."""
    found = difference(own, commit, new=False)
    if not found:
        return
    text = (
        f"{key}: its reviewers read {own.root}, which is not as {commit[:12]} has it; {found}. "
        f"Take it back, or commit it and report that commit, then run `qrspi next {job.run}`"
    )
    hint = f"git -C {quoted(own.root)} status"
    problem = Problem("dirty-work-tree", text, own.root, "", found, f"{commit[:12]} alone", hint)
    raise Refusal(problem)


def refuse_other_whole(job: Job) -> None:
    """The same of where all tasks are merged."""
    place = code_repository.find(job)
    code_repository.clean(job, place, f"run `qrspi next {job.run}`")
