"""Give tasks a branch and a work tree of their own, from the base that the plan says.

The record is written last. Whatever a killed command left without one is recognised: a whole
work tree is used, a half-made one repaired, and what is somebody else's refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qrspi.core.artifacts.branch_map import FILE, Plan, Stage
from qrspi.core.code_steps import batch
from qrspi.core.code_steps import task_state as taskstate
from qrspi.core.code_steps.batch import Item
from qrspi.core.config import reader as configs
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Report, Start
from qrspi.core.steps.facts import unmet
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import refs, worktrees
from qrspi.world.git.worktrees import Conflict
from qrspi.world.machine import clock


class Started(NamedTuple):
    key: str
    start: Start
    how: str  # made, repaired or reused


def handle(job: Job) -> Performed:
    return performed(job, [start(job, key) for key in job.next.missing])


def performed(job: Job, done: Sequence[Started]) -> Performed:
    notes = tuple(
        f"{one.key}: {one.how} {one.start.worktree} on {one.start.branch}" for one in done
    )
    files = tuple(taskfiles.start_file(one.key) for one in done)
    return Performed("start-tasks", job.facts.step, 0, files, notes)


def ready(job: Job) -> tuple[str, ...]:
    """The tasks that can start now."""
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    if planned.problems:
        raise Refusal(*planned.problems)
    states = taskstate.survey(job.facts, (*planned.items, *fixes.items))
    return tuple(task.key for task in states if task.state == "ready")


def rehearse(job: Job, key: str) -> Started:
    """What starting would make, as far as that can be said without making it."""
    found = given(job, key)
    known = recorded(job, key)
    branch = found.item.branch or found.at.branch(key)
    path = found.at.worktree(key)
    feature = found.at.tip if found.item.base.kind == "feature" else ""
    new = Start(branch, found.item.base_words, feature, found.at.shown(key), found.at.feature)
    start = known or new
    how = worktrees.condition(found.at.repo, path, start.branch)
    if how == "foreign":
        raise worktrees.foreign(path, start.branch)
    return Started(key, start, {"ready": "reused", "half-made": "repaired"}.get(how, "made"))


class Given(NamedTuple):
    """A task with all it is started from."""

    item: Item
    plan: Plan
    at: Workplace


def given(job: Job, key: str) -> Given:
    refuse_too_early(job)
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    item = next((one for one in (*planned.items, *fixes.items) if one.key == key), None)
    problems = fixes.problems if "/" in key else planned.problems
    if problems:
        raise Refusal(*problems)
    if item is None:
        listed = ", ".join(one.key for one in (*planned.items, *fixes.items)) or "none"
        text = f"{key} is no task of phase {job.facts.phase}; there is {listed}"
        hint = f"qrspi task list {job.run}"
        raise Refusal(
            Problem("unknown-task", text, field="TASK", found=key, expected=listed, hint=hint)
        )
    return Given(item, planned.plan, workplace.find(job))


def refuse_too_early(job: Job) -> None:
    """Tasks are started when what they are built on is approved, and never before."""
    if wrong := configs.problems_for(job.facts.config, "implement"):
        raise Refusal(*wrong)
    if missing := unmet(job.facts, "implement"):
        listed = ", ".join(missing)
        text = f"no task can start: approve {listed} first"
        hint = f"qrspi status {job.run}"
        raise Refusal(Problem("unmet-prerequisite", text, missing[0], expected=listed, hint=hint))


def start(job: Job, key: str) -> Started:
    found = given(job, key)
    known = recorded(job, key)
    return _again(job, found, known) if known else _first_time(job, found)


def recorded(job: Job, key: str) -> Start | None:
    start = taskfiles.start(job.workspace, key)
    if isinstance(start, Problem):
        raise Refusal(start)
    return start


def _first_time(job: Job, found: Given) -> Started:
    at, key = found.at, found.item.key
    branch = found.item.branch or at.branch(key)
    path = at.worktree(key)
    refuse_elsewhere(at, branch, path)
    condition = worktrees.condition(at.repo, path, branch)
    if condition == "foreign":
        raise worktrees.foreign(path, branch)
    base = _base(job, found)
    if condition == "half-made":
        worktrees.clear(at.repo, path)
    base_commit = _branch(at, branch, base, is_whole=condition == "ready")
    how = {"ready": "reused", "half-made": "repaired"}.get(condition, "made")
    worktrees.exclude_folder(at.repo)
    worktrees.add_worktree(at.repo, path, branch)
    words = found.item.base_words
    record = Start(branch, words, base_commit, at.shown(key), at.feature, clock.now_utc())
    job.workspace.write(taskfiles.start_file(key), taskfiles.render_start(key, record))
    return Started(key, record, how)


def _again(job: Job, found: Given, known: Start) -> Started:
    """Where the record came from another machine, the branch may not be here yet."""
    repo = found.at.repo
    path = f"{repo.root}/{known.worktree}"
    refuse_elsewhere(found.at, known.branch, path)
    condition = worktrees.condition(repo, path, known.branch)
    if worktrees.tip(repo, known.branch) is None:
        worktrees.create_branch(repo, known.branch, _last_known(job, found, known))
    worktrees.exclude_folder(repo)
    worktrees.add_worktree(repo, path, known.branch)
    return Started(found.item.key, known, "reused" if condition == "ready" else "repaired")


def _last_known(job: Job, found: Given, known: Start) -> str:
    report = taskfiles.report(job.workspace, found.item.key)
    said = report.commit if isinstance(report, Report) else ""
    for commit in filter(None, (said, known.base_commit)):
        if refs.resolve(found.at.repo, commit):
            return commit
    text = (
        f"{found.item.key}: neither its branch {known.branch} nor the commit it started from "
        f"({known.base_commit[:12]}) is in {found.at.repo.root}: fetch them, then start it again"
    )
    raise Refusal(Problem("commit-missing", text, found=known.base_commit, hint="git fetch"))


def refuse_elsewhere(at: Workplace, branch: str, path: str) -> None:
    """git would refuse too, after the branch was made."""
    for one in worktrees.worktrees(at.repo):
        if one.branch == branch and one.path != path and not one.prunable:
            text = (
                f"branch {branch} is checked out at {one.path}: expected at {path} or nowhere; "
                f"remove that work tree with `git worktree remove {one.path}`"
            )
            hint = f"git worktree remove {one.path}"
            raise Refusal(Problem("foreign-worktree", text, one.path, found=branch, hint=hint))


def _branch(at: Workplace, branch: str, base: str, *, is_whole: bool) -> str:
    """Make the branch; the commit it begins with. One that is there already is ours when our
    work tree is on it, or when it has nothing of its own."""
    tip = worktrees.tip(at.repo, branch)
    if tip is None:
        worktrees.create_branch(at.repo, branch, base)
        return base
    if is_whole:
        return refs.merge_base(at.repo, tip, base) or tip
    if tip == base:
        return base
    if refs.is_ancestor(at.repo, tip, base):
        worktrees.move_branch(at.repo, branch, base)
        return base
    text = (
        f"branch {branch} is there and has commits that this run did not make: rename or delete "
        "it, then start the task again"
    )
    hint = f"git branch -m {branch} {branch}-old"
    raise Refusal(Problem("foreign-branch", text, found=tip, expected="no branch", hint=hint))


def _base(job: Job, found: Given) -> str:
    base = found.item.base
    if base.kind == "feature":
        return found.at.tip
    if base.kind == "task":
        return _tip_of(job, found, base.name)
    stage = found.plan.stage(base.name)
    assert stage is not None  # a plan that was read has a row for each
    return _stage(job, found, stage)


def _tip_of(job: Job, found: Given, key: str) -> str:
    """What a task that others build on has come to: it needs a commit, not an end."""
    start = recorded(job, key)
    tip = worktrees.tip(found.at.repo, start.branch) if start else None
    if start and tip is None:
        tip = refs.resolve(found.at.repo, _last_known(job, found, start))
    if start and tip and tip != start.base_commit:
        return tip
    what = "has no commit of its own yet" if start else "is not started"
    text = f"{found.item.key} starts from {found.item.base_words}, and {key} {what}"
    raise Refusal(
        Problem("parent-without-commit", text, found=key, hint=f"qrspi task list {job.run}")
    )


def _stage(job: Job, found: Given, stage: Stage) -> str:
    """The merge that several tasks start from. Its branch appears when it is whole."""
    at = found.at
    branch = stage.branch or at.branch(stage.name)
    if tip := worktrees.tip(at.repo, branch):
        return tip
    tips = [_part(job, found, part) for part in stage.parts]
    worktrees.exclude_folder(at.repo)
    message = f"Merge {', '.join(stage.parts)} into {stage.name}"
    with worktrees.throwaway(at.repo, at.worktree(stage.name), tips[0]) as tree:
        merged = worktrees.merge(tree, tips[1:], message)
        if isinstance(merged, Conflict):
            part = stage.parts[tips.index(merged.tip)]
            raise _conflict(job, stage, part, merged.files)
        commit = refs.head(tree) or tips[0]
    worktrees.create_branch(at.repo, branch, commit)
    return commit


def _part(job: Job, found: Given, name: str) -> str:
    stage = found.plan.stage(name)
    return _stage(job, found, stage) if stage else _tip_of(job, found, name)


def _conflict(job: Job, stage: Stage, part: str, files: tuple[str, ...]) -> Refusal:
    listed = ", ".join(files)
    text = (
        f"{stage.name} cannot be made: {part} conflicts with {', '.join(stage.parts)} in {listed}; "
        f"settle it on the branch of {part}, or give the task another base"
    )
    hint = f"qrspi task list {job.run}"
    return Refusal(Problem("merge-conflict", text, FILE, "Composition", listed, hint=hint))
