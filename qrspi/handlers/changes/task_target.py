"""What a task's reviewers look at: the reported commit against the one the task began with."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Report, Start
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import refs, worktrees
from qrspi.world.git.refs import Ref
from qrspi.world.git.repository import Repo


def known(job: Job, subject: Subject) -> tuple[Start, Report] | None:
    """None when the engine did not start the task, or nothing was reported of it."""
    start = taskfiles.start(job.workspace, subject.key)
    report = taskfiles.report(job.workspace, subject.key)
    for record in (start, report):
        if isinstance(record, Problem):
            raise Refusal(record)
    if isinstance(start, Start) and isinstance(report, Report) and report.done:
        return start, report
    return None


def work_tree(job: Job, repo: Repo, key: str, start: Start) -> Repo:
    path = f"{repo.root}/{start.worktree}"
    if found := worktrees.at(repo, path):
        return found
    again = f"qrspi task start {job.run} {key}"
    text = f"the work tree of {key} is not at {path}: make it again with `{again}`"
    raise Refusal(Problem("no-work-tree", text, path, expected="a work tree", hint=again))


def look(job: Job, repo: Repo, key: str, start: Start, report: Report) -> tuple[Repo, str, Ref]:
    """The work tree, the commit in it, and what it is compared with; refused while the work
    tree is not what was reported, or is what the task began with."""
    work = work_tree(job, repo, key, start)
    head = refs.head(work) or ""
    if head != report.commit:
        raise Refusal(_other_head(job, key, start, report, head))
    if head == start.base_commit:
        raise Refusal(_nothing_new(job, key, start))
    return work, head, Ref(start.base_commit, start.base_commit)


def _other_head(job: Job, key: str, start: Start, report: Report, head: str) -> Problem:
    again = f"qrspi task report {job.run} {key} --status DONE --commit {head[:12]}"
    return Problem(
        "head-differs",
        f"{key}: HEAD of {start.worktree} is {head[:12]}, but {report.commit[:12]} was reported; "
        f"check that commit out there, or report this one: `{again}`",
        start.worktree,
        "commit",
        head,
        report.commit,
        again,
    )


def _nothing_new(job: Job, key: str, start: Start) -> Problem:
    report = f"qrspi task report {job.run} {key} --status DONE --commit SHA"
    return Problem(
        "nothing-to-review",
        f"{key}: HEAD of {start.worktree} is the commit the task started from; send its "
        f"implementer again, who ends with `{report}`",
        start.worktree,
        "commit",
        start.base_commit,
        "a commit of its own",
        report,
    )
