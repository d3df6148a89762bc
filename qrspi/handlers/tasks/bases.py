"""The commit that a task starts from: the feature branch's tip, or what reviewed tasks made."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.artifacts.branch_map import FILE, Plan, Stage
from qrspi.core.code_steps.batch import FEATURE, Item
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import git, quoted
from qrspi.handlers.changes import task_base
from qrspi.handlers.changes.code_repository import Workplace
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, merges, refs, worktrees
from qrspi.world.git.merges import Conflict


class TaskContext(NamedTuple):
    item: Item
    plan: Plan
    place: Workplace
    states: Mapping[str, TaskState]  # of all tasks


class Base(NamedTuple):
    commit: str
    words: str  # as start.md says it
    built_on: Mapping[str, str] = {}  # tasks, and the reviewed commits of them that are in it


def find(job: Job, given: TaskContext) -> Base:
    base = given.item.base
    if known := on_feature(given):
        return known
    if base.kind == "task":
        tip = _reviewed(job, given, base.name)
        return Base(tip, given.item.base_words, {base.name: tip})
    return _stage(job, given, given.plan.stage(base.name))


def on_feature(given: TaskContext) -> Base | None:
    if given.item.base.kind == "feature":
        return Base(given.place.tip, FEATURE)
    return _all_merged(given)


def _all_merged(given: TaskContext) -> Base | None:
    """The feature branch, once all of it is merged there: what was repaired since belongs to it."""
    tasks = [given.states.get(key) for key in task_base.parts(given.plan, given.item.base.name)]
    tips = {task.key: task.reviewed for task in tasks if task and task.reviewed}
    found = {key: refs.resolve(given.place.repo, tip) or "" for key, tip in tips.items()}
    if not tasks or len(found) < len(tasks):
        return None
    place = given.place
    inside = all(tip and refs.is_ancestor(place.repo, tip, place.tip) for tip in found.values())
    words = f"{FEATURE}, with {' and '.join(found)} merged"
    return Base(place.tip, words, found) if inside else None


def _reviewed(job: Job, given: TaskContext, key: str) -> str:
    task = given.states.get(key)
    if task and task.reviewed:
        return _here(given, task)
    what = f"is not reviewed yet (it is {task.state})" if task else "is not a task of this phase"
    text = f"{given.item.key} starts from {given.item.base_words}, and {key} {what}"
    hint = f"qrspi task list {job.run}"
    raise Refusal(Problem("parent-not-reviewed", text, found=key, hint=hint))


def _here(given: TaskContext, task: TaskState) -> str:
    if commit := refs.resolve(given.place.repo, task.reviewed):
        return commit
    text = (
        f"{given.item.key} starts from {task.key}, whose commit {task.reviewed[:12]} is not in "
        f"{given.place.repo.root}: fetch it, then start the task again"
    )
    raise Refusal(
        Problem(
            "commit-missing", text, found=task.reviewed, hint=git(given.place.repo.root, "fetch")
        )
    )


def _stage(job: Job, given: TaskContext, stage: Stage | None) -> Base:
    """The merge that several tasks start from. Its branch appears when the merge is complete."""
    assert stage is not None  # a plan that was read has a row for each
    place = given.place
    parts = [_part(job, given, name) for name in stage.parts]
    tips = [part.commit for part in parts]
    built_on = {key: commit for part in parts for key, commit in part.built_on.items()}
    branch = place.branch(stage.name, stage.branch)
    message = f"Merge {', '.join(stage.parts)} into {stage.name}"
    there = worktrees.tip(place.repo, branch)
    if there and _is_made_of(place, there, tips):
        return Base(there, stage.name, built_on)
    if there and not _is_ours(place, there, tips, message):
        raise foreign_branch(branch, there)
    commit = _merged(job, given, stage, tips, message)
    worktrees.create_branch(place.repo, branch, commit, move=bool(there))
    return Base(commit, stage.name, built_on)


def _part(job: Job, given: TaskContext, name: str) -> Base:
    stage = given.plan.stage(name)
    if stage:
        return _stage(job, given, stage)
    tip = _reviewed(job, given, name)
    return Base(tip, name, {name: tip})


def _is_made_of(place: Workplace, commit: str, tips: list[str]) -> bool:
    inside = all(refs.is_ancestor(place.repo, tip, commit) for tip in tips)
    return inside and not task_base.has_own_words(place.repo, commit, tips)


def _is_ours(place: Workplace, commit: str, tips: list[str], message: str) -> bool:
    """A stage of earlier commits may be made again, unless somebody has committed to its branch."""
    older = any(refs.is_ancestor(place.repo, commit, tip) for tip in tips)
    return older or commits.message_of(place.repo, commit).strip() == message


def _merged(job: Job, given: TaskContext, stage: Stage, tips: list[str], message: str) -> str:
    place = given.place
    worktrees.exclude_folder(place.repo)
    with worktrees.throwaway(place.repo, place.worktree(stage.name), tips[0]) as tree:
        merged = merges.merge(tree, tips[1:], message)
        if isinstance(merged, Conflict):
            part = stage.parts[tips.index(merged.tip)]
            raise _conflict(job, stage, part, merged.files)
        return refs.head(tree) or tips[0]


def foreign_branch(branch: str, tip: str) -> Refusal:
    text = (
        f"branch {branch} is there and has commits that this run did not make: rename it, then "
        "start the task again"
    )
    hint = f"git branch -m {quoted(branch)} {quoted(f'{branch}-old')}"
    return Refusal(Problem("foreign-branch", text, found=tip, expected="no branch", hint=hint))


def _conflict(job: Job, stage: Stage, part: str, files: tuple[str, ...]) -> Refusal:
    listed = ", ".join(files)
    text = (
        f"{stage.name} cannot be made: {part} conflicts with {', '.join(stage.parts)} in {listed}; "
        f"settle it on the branch of {part}, or give the task another base"
    )
    hint = f"qrspi task list {job.run}"
    return Refusal(Problem("merge-conflict", text, FILE, "Composition", listed, hint=hint))
