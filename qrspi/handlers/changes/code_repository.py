"""Where code is worked on: the repository, its feature branch, the names of branches and trees."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Start
from qrspi.core.steps.facts import entries
from qrspi.core.tree import Tree
from qrspi.handlers.changes import review_target as target
from qrspi.handlers.jobs.job import Job
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import repository, worktrees
from qrspi.world.git.repository import Repo
from qrspi.world.runs import locate


class Workplace(NamedTuple):
    repo: Repo
    folder: str  # of this run's work trees, and part of its branches' names
    feature: str  # the branch that everything ends up on
    tip: str

    def branch(self, key: str) -> str:
        """The name of a task's branch, or of a stage, that the plan does not name."""
        return f"qrspi/{self.folder}/{key}"

    def worktree(self, key: str) -> str:
        return worktrees.place(self.repo, self.folder, *key.split("/"))

    def shown(self, key: str) -> str:
        """The work tree as records name it: relative to the repository."""
        return f"{worktrees.FOLDER}/{self.folder}/{key}"


def repository_of(job: Job) -> Repo:
    repo = target.code_repository(job)
    if repo:
        return repo._replace(path=repo.root)
    where = job.facts.config.code_path or "the run"
    text = (
        f"{where} is in no git repository, and {job.facts.step or 'implement'} needs one for the "
        "code: make one with `git init`, or name another with code_path in config.md"
    )
    raise Refusal(Problem("no-repository", text, "config.md", "code_path", hint="git init"))


def find(job: Job) -> Workplace:
    repo = repository_of(job)
    feature = target.feature_branch(job, repo)
    if feature is None:
        text = (
            f"HEAD of {repo.root} is on no branch, and nothing says which branch the tasks end up "
            f"on: `qrspi config set {job.run} feature_branch NAME`"
        )
        raise Refusal(Problem("no-feature-branch", text, "config.md", "feature_branch"))
    tip = worktrees.tip(repo, feature)
    if tip is None:
        text = f"the feature branch {feature} has no commit in {repo.root}: make a first one there"
        raise Refusal(
            Problem("no-commit", text, field="feature_branch", found=feature, hint="git commit")
        )
    return Workplace(repo, folder(job), feature, tip)


def folder(job: Job) -> str:
    """The slug, or the whole name where another run has the same slug. What a run has begun
    with it keeps."""
    if kept := _kept(job.workspace, "reviews/tasks"):
        return kept
    slug = slug_of(job.run)
    around = job.workspace.path.rpartition("/")[0]
    others = (entry.name for entry in entries(DiskTree(around), "") if entry.kind == "dir")
    same = (name for name in others if name != job.run and slug in (name, slug_of(name)))
    return job.run if any(locate.is_run(f"{around}/{name}") for name in same) else slug


def _kept(tree: Tree, path: str) -> str:
    for entry in entries(tree, path):
        if entry.kind != "dir":
            continue
        key = f"{path}/{entry.name}".removeprefix("reviews/tasks/")
        start = taskfiles.start(tree, key)
        if isinstance(start, Start):
            return start.worktree.split("/")[1] if start.worktree.count("/") > 1 else ""
    return ""


def checked_out(found: Workplace, verb: str) -> None:
    """Merges and commands happen in the work tree, so it must be the feature branch's."""
    here = repository.branch(found.repo)
    if here != found.feature:
        text = (
            f"{found.repo.root} is on {here or 'no branch'}, not on the feature branch "
            f"{found.feature}: `git switch {found.feature}` there, then {verb} again"
        )
        raise Refusal(
            Problem(
                "wrong-branch",
                text,
                found.repo.root,
                found=here or "",
                expected=found.feature,
                hint=f"git -C {found.repo.root} switch {found.feature}",
            )
        )


def clean(job: Job, found: Workplace, verb: str) -> None:
    """Files of runs do not count: the engine itself is writing them."""
    runs = job.workspace.path.rpartition("/")[0]
    inside = f"{runs}/".removeprefix(f"{found.repo.root}/")
    changed = [
        name
        for name in worktrees.dirty(found.repo)
        if not (name.startswith(inside) and inside != f"{runs}/")
    ]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        text = (
            f"the work tree at {found.repo.root} has changes that are not committed ({changed[0]}"
            f"{more}): commit or put them away, then {verb} again"
        )
        raise Refusal(
            Problem("dirty-work-tree", text, changed[0], hint=f"git -C {found.repo.root} status")
        )


def unstaged(found: Workplace, verb: str) -> None:
    """Files of runs count here too."""
    if not (names := worktrees.staged(found.repo)):
        return
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    text = (
        f"a change is staged in {found.repo.root} ({names[0]}{more}), and git merges nothing as "
        f"long as there is one: commit it, or unstage it with `git restore --staged`, then {verb} "
        "again"
    )
    hint = f"git -C {found.repo.root} restore --staged -- ."
    raise Refusal(Problem("staged-change", text, names[0], hint=hint))
