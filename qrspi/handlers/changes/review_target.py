"""What a round's reviewers look at: files of the run, a whole branch, or nothing to compare."""

from __future__ import annotations

import os
import re

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.hints import assert_never
from qrspi.core.model import Decision, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, Subject, subject_of
from qrspi.core.records import approvals, step_text, task_records
from qrspi.core.records.task_records import Report, Start
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import MemoryTree
from qrspi.core.yaml import frontmatter
from qrspi.handlers.changes import as_committed, code_repository
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, diffs, refs, repository, tracked_files, worktrees
from qrspi.world.git.diffs import DiffResult
from qrspi.world.git.refs import Ref
from qrspi.world.git.repository import Repo
from qrspi.world.git.tracked_files import Tracked
from qrspi.world.runs.workspace import Workspace


class Files(NamedTuple):
    repo: Repo
    paths: tuple[str, ...]  # run-relative
    entries: tuple[Tracked, ...] = ()  # of the index, once they were asked for


class Branch(NamedTuple):
    repo: Repo
    tip: str  # the commit that is reviewed
    base: Ref
    doubt: str = ""  # what a record says differently from git
    without: str = ""  # a folder that nobody reviews, from the root


Target = Files | Branch


def find(job: Job, subject: Subject) -> Target | None:
    """None where there is nothing to compare: outside git."""
    if subject.key == "test":
        return _merged(job)
    if subject.is_task:
        return _task(job, subject)
    if subject.key == "integrate":
        return _feature(job)
    repo = repository.find(job.workspace.path)
    return Files(repo, files(job.workspace, subject, repo)) if repo else None


def files(workspace: Workspace, subject: Subject, repo: Repo) -> tuple[str, ...]:
    """The artifact and its companions. A deleted companion belongs to the change too."""
    if subject.is_task:
        return (subject.artifact,)
    there = step_text.paths(workspace, subject.step)
    folders = {pattern.rpartition("/")[0] or "." for pattern in STEP[subject.step].companions}
    entries = tracked_files.tracked(repo, sorted(folders)) if folders else ()
    run = repo.from_root(".")
    known = (os.path.relpath(entry.name, run) for entry in entries)
    gone = {name for name in known if step_text.is_companion(subject.step, name)} - set(there)
    return (*there, *sorted(gone))


def _feature(job: Job) -> Branch | None:
    repo = code_repository.repository_or_none(job)
    if repo is None:
        return None
    name = code_repository.feature_branch(job, repo) or "HEAD"
    tip = refs.resolve(repo, name)
    if tip is None:
        text = f"the feature branch {name} has no commit: there is nothing to review"
        raise Refusal(Problem("nothing-to-review", text, field="feature_branch", found=name))
    base = refs.base_branch(repo, job.facts.config.base_branch)
    return Branch(repo, tip, _parting(repo, tip, base), without=runs_in(repo, job))


def _merged(job: Job) -> Branch | None:
    """What the tests ran over. On the base branch itself, only what is newer than the plan."""
    feature = _feature(job)
    if feature is None or feature.base != refs.empty_tree(feature.repo):
        return feature
    plan = frontmatter.fields(job.workspace.head(STEP["plan"].artifact))
    began = frontmatter.text(plan, "phase_start_commit") or ""
    start = refs.resolve(feature.repo, began) if _COMMIT.fullmatch(began) else None
    return feature._replace(base=Ref(began[:12], start)) if start else feature


_COMMIT = re.compile("[0-9a-f]{40,64}")


def runs_in(repo: Repo, job: Job) -> str:
    """Where the runs lie: their files were reviewed step by step, and outweigh the code."""
    return repository.runs_in(repo, job.workspace.path.rpartition("/")[0])


def _task(job: Job, subject: Subject) -> Branch | None:
    repo = code_repository.repository_or_none(job)
    reported = _reported(job, subject) if repo else None
    if repo and reported:
        return _reported_branch(job, repo, subject.key, *reported)
    work = _work_tree(job, subject, repo) if repo else None
    tip = refs.head(work) if work else None
    if repo is None or work is None or tip is None:
        return None
    feature = code_repository.feature_branch(job, repo)
    start = Ref(feature, refs.resolve(repo, feature)) if feature else None
    return Branch(work, tip, _parting(work, tip, start), without=runs_in(repo, job))


def _reported(job: Job, subject: Subject) -> tuple[Start, Report] | None:
    start = task_records.start(job.workspace, subject.key)
    report = task_records.report(job.workspace, subject.key)
    for record in (start, report):
        if isinstance(record, Problem):
            raise Refusal(record)
    if isinstance(start, Start) and isinstance(report, Report) and report.done:
        return start, report
    return None


def _started_tree(job: Job, repo: Repo, key: str, start: Start) -> Repo:
    path = worktrees.checked_place(repo, start.worktree)
    if tree := worktrees.at(repo, path):
        return tree
    raise Refusal(lost_work_tree(job, key, path))


def lost_work_tree(job: Job, key: str, path: str) -> Problem:
    again = f"qrspi task start {job.run} {key}"
    text = f"the work tree of {key} is not at {path}: make it again with `{again}`"
    return Problem("no-work-tree", text, path, expected="a work tree", hint=again)


def _reported_branch(job: Job, repo: Repo, key: str, start: Start, report: Report) -> Branch:
    """Refused when the work tree is not what was reported, or has nothing new."""
    work = _started_tree(job, repo, key, start)
    head = refs.head(work) or ""
    if head != report.commit:
        raise Refusal(_other_head(job, key, start, report, head))
    as_committed.refuse_other(job, key, work, head)
    from qrspi.handlers.changes import task_base

    base, doubt = task_base.find(job, key, start, head)
    if head == base:
        raise Refusal(_nothing_new(job, key, start))
    return Branch(work, head, Ref(base, base), doubt, runs_in(repo, job))


def _other_head(job: Job, key: str, start: Start, report: Report, head: str) -> Problem:
    again = f"qrspi task report {job.run} {key} --status DONE --commit {head[:12]}"
    text = (
        f"{key}: HEAD of {start.worktree} is {head[:12]}, but {report.commit[:12]} was reported; "
        f"check that commit out there, or report this one: `{again}`"
    )
    return Problem("head-differs", text, start.worktree, "commit", head, report.commit, again)


def _nothing_new(job: Job, key: str, start: Start) -> Problem:
    report = f"qrspi task report {job.run} {key} --status DONE --commit HEAD"
    return Problem(
        "nothing-to-review",
        f"{key}: HEAD of {start.worktree} is the commit the task started from; send its "
        f"implementer again, who ends with `{report}`",
        file=start.worktree,
        field="commit",
        found=start.base_commit,
        expected="a commit of its own",
        hint=report,
    )


def _work_tree(job: Job, subject: Subject, repo: Repo) -> Repo | None:
    names = (slug_of(job.run), job.run)
    ends = tuple(f"/{worktrees.FOLDER}/{name}/{subject.key}" for name in names)
    trees = (worktree for worktree in worktrees.worktrees(repo) if not worktree.prunable)
    tree = next((one for one in trees if one.path.endswith(ends)), None)
    return worktrees.at(repo, tree.path) if tree else None


def _parting(repo: Repo, tip: str, base: Ref | None) -> Ref:
    """Where a branch left its base; on the base branch itself everything is new."""
    if base is None or base.commit is None or base.commit == tip:
        return refs.empty_tree(repo)
    return Ref(base.name, refs.merge_base(repo, base.commit, tip) or base.commit)


def parent(target: Target | None) -> Ref | None:
    match target:
        case None:
            return None
        case Files():
            return commits.parent_of_head(target.repo)
        case Branch():
            commit = refs.resolve(target.repo, f"{target.tip}~1")
            return Ref("HEAD~1", commit) if commit else None
        case _:
            assert_never(target)


def ref(job: Job, target: Target, decision: Decision) -> Ref:
    narrow = parent(target) if decision.narrow else None
    if narrow:
        return narrow
    if isinstance(target, Branch):
        return target.base
    return refs.base(target.repo, job.facts.config.base_branch)


def tracked(target: Target | None) -> Target | None:
    """Before anything is written: an artifact that nobody added to git is not reviewed."""
    if not isinstance(target, Files):
        return target
    return target._replace(entries=diffs.must_be_tracked(target.repo, target.paths))


def emit(job: Job, target: Target, file: str, decision: Decision) -> DiffResult:
    return _emitted(job, target, file, ref(job, target, decision))


def emit_since(job: Job, target: Target, file: str, known: LastReviewed) -> DiffResult:
    return _emitted(job, target, file, known.ref, known.paths)


def _emitted(
    job: Job, target: Target, file: str, base: Ref, gone: tuple[str, ...] = ()
) -> DiffResult:
    run = job.workspace.path
    match target:
        case Files():
            paths = tuple(dict.fromkeys((*target.paths, *gone)))
            return diffs.emit(target.repo, run, file, base, paths, target.entries)
        case Branch():
            return diffs.emit_branch(target.repo, run, file, base, target.tip, target.without)
        case _:
            assert_never(target)


class LastReviewed(NamedTuple):
    ref: Ref
    paths: tuple[str, ...] = ()


def last_reviewed(target: Target, before: Manifest) -> LastReviewed | None:
    """Where git has what the previous round looked at; None when that was never committed."""
    match target:
        case Branch():
            commit = refs.resolve(target.repo, before.commit) if before.commit else None
            return LastReviewed(Ref(commit, commit)) if commit else None
        case Files():
            subject = subject_of(before.step)
            for commit in commits.touching(target.repo, target.paths, _LOOKED_THROUGH):
                text = _text_in(target.repo, commit, subject)
                if step_text.is_unchanged(MemoryTree(text), subject, before.body_hash):
                    return LastReviewed(Ref(commit, commit), tuple(text))
            return None
        case _:
            assert_never(target)


_LOOKED_THROUGH = 20  # commits: between two rounds there are few


def _text_in(repo: Repo, commit: str, subject: Subject) -> dict[str, bytes]:
    names = [
        name
        for name in commits.names(repo, commit)
        if name == subject.artifact or step_text.is_companion(subject.step, name)
    ]
    texts = ((name, commits.content(repo, commit, name)) for name in names)
    return {name: data for name, data in texts if data is not None}


def no_work_tree(job: Job, subject: Subject) -> Refusal:
    start = f"qrspi task start {job.run} {subject.key}"
    text = f"{subject.key} has no work tree with a commit to review: start it with `{start}`"
    return Refusal(Problem("nothing-to-review", text, expected="a commit to review", hint=start))


class Edited(NamedTuple):
    commit: str
    diff: bytes


def edited_since_approval(workspace: Workspace, subject: Subject) -> Edited:
    repo = repository.find(workspace.path)
    if repo is None:
        raise _incomparable(workspace.name, subject, "the run is not in a git repository")
    line = f"docs(qrspi): approve {subject.step} for {slug_of(workspace.name)}"
    paths = files(workspace, subject, repo)
    # Where the text said approved too early, its record is all that the commit changes.
    commit = commits.find(repo, (line,), paths=(*paths, approvals.FILE))
    if commit is None:
        raise _incomparable(workspace.name, subject, "no commit of this branch approves it")
    return Edited(commit, diffs.text(repo, Ref(commit, commit), paths))


def _incomparable(run: str, subject: Subject, why: str) -> Refusal:
    text = f"{subject.artifact} of {run} cannot be compared with its approval: {why}"
    return Refusal(Problem("no-approval", text, file=subject.artifact, hint=f"qrspi log {run}"))
