"""The commit that a task's work is compared with. start.md names one, and git is asked too, so a
changed record hides nothing from reviewers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qrspi.core.artifacts.branch_map import Plan
from qrspi.core.code_steps import batch
from qrspi.core.code_steps.batch import Item
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Start
from qrspi.core.text.shell_words import quoted
from qrspi.handlers.changes import code_repository
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import diffs, refs, worktrees
from qrspi.world.git.repository import Repo


class TaskBase(NamedTuple):
    commit: str
    doubt: str = ""  # what start.md says differently


def find(job: Job, key: str, start: Start, tip: str) -> TaskBase:
    """The older of the recorded commit and git's; refused when the tip does not descend from it."""
    # Not in the task's own work tree, where the feature branch would be the task's.
    repo = code_repository.repository_of(job)
    recorded = refs.resolve(repo, start.base_commit)
    if recorded is None or not refs.is_ancestor(repo, recorded, tip):
        raise Refusal(_no_descendant(key, start, tip))
    parting = _parting(job, repo, key, tip, recorded)
    commit = refs.merge_base(repo, recorded, parting) if parting else None
    if commit is None:
        raise Refusal(_unrelated(key, tip))
    if commit == recorded:
        return TaskBase(recorded)
    why = (
        f"{key}: {task_records.start_file(key)} says that the task began at {recorded[:12]}, git "
        f"says at {commit[:12]}; reviewers see everything since then"
    )
    return TaskBase(commit, why)


def _parting(job: Job, repo: Repo, key: str, tip: str, recorded: str) -> str | None:
    """Where the work left its planned base, or else the feature branch: then more is shown."""
    origins = filter(None, _origins(job, repo, _item(job, key), tip, recorded))
    bases = (refs.merge_base(repo, origin, tip) for origin in origins)
    return next(filter(None, bases), None)


def _item(job: Job, key: str) -> Item | None:
    items = (*batch.read(job.facts).items, *batch.repairs(job.workspace).items)
    return next((item for item in items if item.key == key), None)


def _origins(
    job: Job, repo: Repo, item: Item | None, tip: str, recorded: str
) -> Iterator[str | None]:
    if item and item.base.kind == "stage" and _is_stage(job, repo, item.base.name, recorded):
        yield recorded  # its parts may be merged by now, each by itself
    name = code_repository.feature_branch(job, repo)
    feature = worktrees.tip(repo, name) if name else None
    if item and feature and _has_parents(job, repo, item, feature):
        yield _without_task(repo, feature, tip)
    if item and item.base.kind == "task":
        yield _reported(job, repo, item.base.name)
    if item and item.base.kind == "stage":
        yield _stage(job, repo, item.base.name)
    yield feature


def _has_parents(job: Job, repo: Repo, item: Item, feature: str) -> bool:
    """A task whose parents are all merged starts from the feature branch."""
    if item.base.kind == "feature":
        return False
    found = [_reported(job, repo, key) for key in parts(batch.read(job.facts).plan, item.base.name)]
    return all(commit and refs.is_ancestor(repo, commit, feature) for commit in found)


def _without_task(repo: Repo, feature: str, tip: str) -> str | None:
    """The feature branch; once it has the task, what it was before that."""
    if not refs.is_ancestor(repo, tip, feature):
        return feature
    merge = refs.came_with(repo, tip)
    return refs.resolve(repo, f"{merge}^1") if merge else None


def _reported(job: Job, repo: Repo, key: str) -> str | None:
    report = task_records.report(job.workspace, key)
    commit = report.commit if isinstance(report, task_records.Report) else ""
    return refs.resolve(repo, commit) if commit else None


def _stage(job: Job, repo: Repo, name: str) -> str | None:
    """None when the branch has work of its own, so that it is not what the plan merges."""
    stage = batch.read(job.facts).plan.stage(name)
    branch = code_repository.find(job).branch(name, stage.branch if stage else "")
    tip = worktrees.tip(repo, branch)
    return tip if tip and _is_stage(job, repo, name, tip) else None


def _is_stage(job: Job, repo: Repo, name: str, commit: str) -> bool:
    plan = batch.read(job.facts).plan
    known = [*filter(None, (_reported(job, repo, key) for key in parts(plan, name)))]
    return not has_own_words(repo, commit, known, code_repository.find(job).tip)


def has_own_words(repo: Repo, commit: str, parts: Sequence[str], *besides: str) -> bool:
    """It has commits of its own, or differs from a part by what no other part contains."""
    if refs.has_own_work(repo, commit, (*parts, *besides)):
        return True
    return any(_unseen(repo, part, commit, [one for one in parts if one != part]) for part in parts)


def _unseen(repo: Repo, part: str, commit: str, others: Sequence[str]) -> tuple[str, ...]:
    known = [(refs.merge_base(repo, part, other), other) for other in others]
    return diffs.unseen(repo, (part, commit), [(base, other) for base, other in known if base])


def parts(plan: Plan, name: str) -> Iterator[str]:
    if stage := plan.stage(name):
        for part in stage.parts:
            yield from parts(plan, part)
    else:
        yield name


def _no_descendant(key: str, start: Start, tip: str) -> Problem:
    text = (
        f"{key}: commit {tip[:12]} does not descend from {start.base_commit[:12]}, which the task "
        f"began with: expected a commit made in {start.worktree}"
    )
    expected = f"a descendant of {start.base_commit}"
    return _no_base(key, tip, text, expected, f"git log --oneline -5 {quoted(start.branch)}")


def _unrelated(key: str, tip: str) -> Problem:
    text = (
        f"{key}: commit {tip[:12]} left the feature branch where git cannot tell, so nobody can "
        "say what is new in it: expected a history that both have in common"
    )
    expected = "a descendant of what the task began with"
    return _no_base(key, tip, text, expected, "git fetch --unshallow")


def _no_base(key: str, tip: str, text: str, expected: str, hint: str) -> Problem:
    file = task_records.start_file(key)
    return Problem(
        "no-descendant", text, file, "base_commit", found=tip, expected=expected, hint=hint
    )
