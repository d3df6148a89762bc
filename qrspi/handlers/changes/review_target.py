"""What a round's reviewers look at: files of the run, a whole branch, or nothing to compare."""

from __future__ import annotations

import os
from typing import NamedTuple, assert_never

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Decision, Problem
from qrspi.core.pipeline import STEP, Subject
from qrspi.core.records import step_text as bodies
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.handlers.changes import task_target as task_round
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import diffs, refs, repository, worktrees
from qrspi.world.git.diffs import DiffResult
from qrspi.world.git.refs import Ref
from qrspi.world.git.repository import Repo, Tracked
from qrspi.world.runs.workspace import Workspace


class Files(NamedTuple):
    """The text as the work tree has it."""

    repo: Repo
    paths: tuple[str, ...]  # run-relative
    entries: tuple[Tracked, ...] = ()  # of the index, once they were asked for


class Branch(NamedTuple):
    """Everything that a branch adds, as it is committed."""

    repo: Repo
    tip: str  # the commit that is reviewed
    base: Ref


Target = Files | Branch


def find(job: Job, subject: Subject) -> Target | None:
    """None where there is nothing to compare: outside git, and for `test`."""
    if subject.key == "test":
        return None
    if subject.is_task:
        return _task(job, subject)
    if subject.key == "integrate":
        return _feature(job)
    repo = repository.find(job.workspace.path)
    return Files(repo, files(job.workspace, subject, repo)) if repo else None


def files(workspace: Workspace, subject: Subject, repo: Repo) -> tuple[str, ...]:
    """The artifact and its companions. One that was deleted belongs to the change too."""
    if subject.is_task:
        return (subject.artifact,)
    there = bodies.paths(workspace, subject.step)
    folders = {pattern.rpartition("/")[0] or "." for pattern in STEP[subject.step].companions}
    entries = repository.tracked(repo, sorted(folders)) if folders else ()
    run = repo.from_root(".")
    known = (os.path.relpath(entry.name, run) for entry in entries)
    gone = {name for name in known if bodies.is_companion(subject.step, name)} - set(there)
    return (*there, *sorted(gone))


def code_repository(job: Job) -> Repo | None:
    """`code_path` in config.md, else the repository that the run is in."""
    place = job.facts.config.code_path or job.workspace.path
    return repository.find(place if place.startswith("/") else f"{job.project}/{place}")


def feature_branch(job: Job, repo: Repo) -> str | None:
    """As configured, else as recorded when the plan was approved, else where one stands."""
    head = job.workspace.head("plan.md")
    front = None if isinstance(head, Fault) else frontmatter.read(head)
    fields = front.fields if isinstance(front, frontmatter.Front) else {}
    recorded = frontmatter.text(fields, "feature_branch")
    return job.facts.config.feature_branch or recorded or repository.branch(repo)


def _feature(job: Job) -> Branch | None:
    repo = code_repository(job)
    if repo is None:
        return None
    name = feature_branch(job, repo) or "HEAD"
    tip = refs.resolve(repo, name)
    if tip is None:
        text = f"the feature branch {name} has no commit: there is nothing to review"
        raise Refusal(Problem("nothing-to-review", text, field="feature_branch", found=name))
    base = refs.base_branch(repo, job.facts.config.base_branch)
    return Branch(repo, tip, _parting(repo, tip, base))


def _task(job: Job, subject: Subject) -> Branch | None:
    repo = code_repository(job)
    said = task_round.known(job, subject) if repo else None
    if repo and said:
        return Branch(*task_round.look(job, repo, subject.key, *said))
    work = _work_tree(job, subject, repo) if repo else None
    tip = refs.head(work) if work else None
    if repo is None or work is None or tip is None:
        return None
    feature = feature_branch(job, repo)
    start = Ref(feature, refs.resolve(repo, feature)) if feature else None
    return Branch(work, tip, _parting(work, tip, start))


def _work_tree(job: Job, subject: Subject, repo: Repo) -> Repo | None:
    names = (slug_of(job.run), job.run)
    ends = tuple(f"/{worktrees.FOLDER}/{name}/{subject.key}" for name in names)
    trees = (one for one in worktrees.worktrees(repo) if not one.prunable)
    found = next((one for one in trees if one.path.endswith(ends)), None)
    return repository.find(found.path) if found else None


def _parting(repo: Repo, tip: str, base: Ref | None) -> Ref:
    """Where a branch left its base; on the base branch itself everything is new."""
    if base is None or base.commit is None or base.commit == tip:
        return refs.empty_tree(repo)
    return Ref(base.name, refs.merge_base(repo, base.commit, tip) or base.commit)


def parent(target: Target | None) -> Ref | None:
    """The commit before the one that is looked at, by the name that reviewers are told."""
    match target:
        case None:
            return None
        case Files():
            return refs.parent_of_head(target.repo)
        case Branch():
            commit = refs.resolve(target.repo, f"{target.tip}~1")
            return Ref("HEAD~1", commit) if commit else None
        case _:
            assert_never(target)


def ref(job: Job, target: Target, decision: Decision) -> Ref:
    """What the diff is taken against, as convergence chose."""
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
    chosen = ref(job, target, decision)
    match target:
        case Files():
            run = job.workspace.path
            return diffs.emit(target.repo, run, file, chosen, target.paths, target.entries)
        case Branch():
            return diffs.emit_branch(target.repo, job.workspace.path, file, chosen, target.tip)
        case _:
            assert_never(target)


def no_work_tree(job: Job, subject: Subject) -> Refusal:
    start = f"qrspi task start {job.run} {subject.key}"
    text = f"{subject.key} has no work tree with a commit to review: start it with `{start}`"
    return Refusal(Problem("nothing-to-review", text, expected="a commit to review", hint=start))
