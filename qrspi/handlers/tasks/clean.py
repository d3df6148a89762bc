"""Remove the work trees and branches of a run that has ended, if they are merged."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.code_steps import batch
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED
from qrspi.core.text.shortened import few
from qrspi.handlers.changes import code_repository
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import branches, refs, worktree_list, worktrees
from qrspi.world.git.repository import Repo
from qrspi.world.git.worktree_list import Worktree


class Left(NamedTuple):
    branch: str  # '' for a work tree on no branch
    commit: str
    worktree: str = ""  # relative to the root of the repository
    keep: str = ""  # why it stays; '' for what goes
    beside: tuple[str, ...] = ()  # files of bytecode that go with it

    @property
    def words(self) -> str:
        words = " on ".join(part for part in (self.worktree, self.branch) if part)
        files = counted(len(self.beside), "file")
        return f"{words} with {files} of __pycache__" if self.beside else words


class _Around(NamedTuple):
    repo: Repo
    folder: str
    ends: dict[str, str]  # branches that work is merged into, and their commits
    here: str  # the current folder

    def merged(self, commit: str) -> bool:
        return any(refs.is_ancestor(self.repo, commit, end) for end in self.ends.values())


def survey(job: Job, here: str) -> tuple[Left, ...]:
    """Refused while the run goes on."""
    if job.next.action != "done" and CLOSED not in job.facts.names:
        raise Refusal(_goes_on(job))
    around = _around(job, here)
    place = f"{around.repo.root}/{worktrees.FOLDER}/{around.folder}/"
    every = worktrees.worktrees(around.repo)
    trees = [worktree for worktree in every if worktree.path.startswith(place)]
    busy = {one.branch for one in every}
    alone = (name for name in _names(job, around) if name not in busy)
    return (*(_tree(around, one) for one in trees), *(_branch(around, name) for name in alone))


def carry_out(job: Job, here: str) -> tuple[tuple[Left, ...], Performed]:
    left = survey(job, here)
    repo = code_repository.repository_of(job)
    gone = [one for one in left if not one.keep]
    for one in gone:
        if one.worktree:
            worktree_list.remove(repo, f"{repo.root}/{one.worktree}", one.beside)
        if one.branch:
            branches.delete(repo, one.branch, one.commit)
    worktree_list.remove_empty_folders(repo, code_repository.folder(job))
    notes = tuple(f"removed {one.words}, which was at {one.commit[:12]}" for one in gone)
    return left, Performed("task-clean", "", notes=notes)


def _around(job: Job, here: str) -> _Around:
    repo = code_repository.repository_of(job)
    named = (code_repository.feature_branch(job, repo), refs.default_branch(repo))
    tips = {name: worktrees.tip(repo, name) for name in named if name}
    ends = {name: tip for name, tip in tips.items() if tip}
    return _Around(repo, code_repository.folder(job), ends, here)


def _names(job: Job, around: _Around) -> Iterator[str]:
    place = code_repository.Workplace(around.repo, around.folder, "", "")
    planned, there = batch.read(job.facts), branches.names(around.repo)
    items = (*planned.items, *batch.repairs(job.workspace).items)
    named = [(item.key, item.branch) for item in items]
    named += [(stage.name, stage.branch) for stage in planned.plan.stages]
    possible = (name for key, branch in named for name in place.branches(key, branch))
    yield from (name for name in dict.fromkeys(possible) if name in there)


def _tree(around: _Around, worktree: Worktree) -> Left:
    shown = worktree.path.removeprefix(f"{around.repo.root}/")
    left = Left(worktree.branch or "", worktree.commit or "", shown)
    tree = worktrees.whole(around.repo, worktree)
    if tree is None or worktree.locked is not None:
        return left._replace(keep="it is locked or not whole")
    if f"{around.here}/".startswith(f"{worktree.path}/"):
        return left._replace(keep="you stand in it")
    unclean = worktrees.unclean(tree)
    beside = worktree_list.bytecode(unclean.new)
    return left._replace(keep=_why_kept(around, worktree, unclean.files, beside), beside=beside)


def _why_kept(
    around: _Around, worktree: Worktree, files: tuple[str, ...], beside: tuple[str, ...]
) -> str:
    if changed := [name for name in files if name not in beside]:
        return f"it has changes that are not committed: {few(changed)}"
    return _not_merged(around, worktree.branch or "", worktree.commit or "")


def _branch(around: _Around, name: str) -> Left:
    commit = worktrees.tip(around.repo, name) or ""
    return Left(name, commit, keep=_not_merged(around, name, commit))


def _not_merged(around: _Around, branch: str, commit: str) -> str:
    if branch in around.ends:
        return "it is a branch that tasks are merged into"
    if not commit or not around.merged(commit):
        return f"it is not merged into {' or '.join(around.ends) or 'any branch'}"
    return ""


def _goes_on(job: Job) -> Problem:
    hint = f"qrspi status {job.run}"
    text = f"{job.run} is not complete, and its work trees are still needed: `{hint}` says for what"
    return Problem("not-complete", text, expected="a complete or closed run", hint=hint)
