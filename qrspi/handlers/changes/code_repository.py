"""Where code is worked on: its repository, its feature branch, its work trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Start
from qrspi.core.snapshot import Snapshot
from qrspi.core.text import shell_words
from qrspi.core.text.plain_diff import as_text
from qrspi.core.text.shortened import few
from qrspi.core.tree import Tree, entries
from qrspi.core.yaml import frontmatter
from qrspi.handlers.jobs.job import Job
from qrspi.world.consent import permits
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import branches, refs, repository, worktrees
from qrspi.world.git.repository import Repo
from qrspi.world.git.tracked_files import hidden_changes
from qrspi.world.runs import locate


class Workplace(NamedTuple):
    repo: Repo
    folder: str  # of this run's work trees, and part of its branches' names
    feature: str  # the branch that everything is merged into
    tip: str

    def branch(self, key: str, named: str = "") -> str:
        return branches.spelled(self.repo, named or self._usual(key))

    def branches(self, key: str, named: str = "") -> tuple[str, ...]:
        """What `branch` may have given while other branches existed."""
        return (
            *branches.spellings(named or self._usual(key)),
            *branches.spellings(self._usual(key)),
        )

    def _usual(self, key: str) -> str:
        return f"qrspi/{self.folder}/{key}"

    def worktree(self, key: str) -> str:
        return worktrees.place(self.repo, self.folder, *key.split("/"))

    def shown(self, key: str) -> str:
        return f"{worktrees.FOLDER}/{self.folder}/{key}"


def repository_or_none(job: Job) -> Repo | None:
    return repository.find(code_folder(job) or job.workspace.path)


def code_folder(job: Job) -> str | None:
    """Where `code_path` in config.md leads. Outside the project the user must have allowed it."""
    place = job.facts.config.code_path
    if not place:
        return None
    if outside := repository.outside_of(job.project, place):
        permits.require(job.project, job.run, (outside,))
    return repository.absolute(job.project, place)


def feature_branch(job: Job, repo: Repo) -> str | None:
    fields = frontmatter.fields(job.workspace.head("plan.md"))
    recorded = frontmatter.filled(fields, "feature_branch")
    return job.facts.config.feature_branch or recorded or repository.branch(repo)


def repository_of(job: Job) -> Repo:
    repo = repository_or_none(job)
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
    feature = feature_branch(job, repo)
    if feature is None:
        text = (
            f"HEAD of {repo.root} is on no branch, and nothing says which branch the tasks end up "
            f"on: `qrspi config set {job.run} feature_branch NAME`"
        )
        raise Refusal(Problem("no-feature-branch", text, "config.md", "feature_branch"))
    tip = worktrees.tip(repo, feature)
    if tip is None:
        text = f"the feature branch {feature} has no commit in {repo.root}: make a first one there"
        problem = Problem(
            "no-commit", text, field="feature_branch", found=feature, hint="git commit"
        )
        raise Refusal(problem)
    return Workplace(repo, folder(job), feature, tip)


def folder(job: Job) -> str:
    """The slug, or the whole name where another run has it too. A run keeps what it began with."""
    if kept := _kept(job.workspace):
        return kept
    slug = slug_of(job.run)
    around = job.workspace.path.rpartition("/")[0]
    others = (entry.name for entry in entries(DiskTree(around), "") if entry.kind == "dir")
    same = (name for name in others if name != job.run and slug in (name, slug_of(name)))
    return job.run if any(locate.is_run(f"{around}/{name}") for name in same) else slug


def _kept(tree: Tree) -> str:
    for entry in entries(tree, "reviews/tasks"):
        start = task_records.start(tree, entry.name) if entry.kind == "dir" else None
        if isinstance(start, Start):
            return start.worktree.split("/")[1]
    return ""


def checked_out(job: Job, repo: Repo, feature: str, verb: str) -> None:
    """Merges and commands happen in the work tree, so it must be on the feature branch."""
    here = repository.branch(repo)
    if here == feature:
        return
    way = " && ".join((*_freed(repo, feature), *_switched(job, repo, feature, here)))
    text = (
        f"{repo.root} is on {here or 'no branch'}, not on the feature branch {feature}: `{way}`, "
        f"then {verb} again"
    )
    found = here or ""
    raise Refusal(Problem("wrong-branch", text, repo.root, "", found, feature, hint=way))


def _freed(repo: Repo, branch: str) -> Iterator[str]:
    """git keeps a branch in one work tree at a time. That of a task goes back to its own."""
    for tree in worktrees.worktrees(repo):
        if tree.branch == branch and tree.path != repo.root and not tree.prunable:
            own = f"qrspi/{tree.path.partition(f'/{worktrees.FOLDER}/')[2]}"
            back = own if worktrees.tip(repo, own) else "--detach"
            yield shell_words.git(tree.path, "switch", back)


def _switched(job: Job, repo: Repo, branch: str, here: str | None) -> Iterator[str]:
    """A branch that lacks the newest records of the run would have it decided all over again."""
    yield shell_words.git(repo.root, "switch", branch)
    records = repository.find(job.workspace.path)
    if here and records and records.root == repo.root and not refs.is_ancestor(repo, here, branch):
        yield shell_words.git(repo.root, "merge", "--no-edit", here)


def named(job: Job, workplace: Workplace) -> None:
    """Nothing is merged into the default branch unless a person named it."""
    default = refs.default_branch(workplace.repo)
    if workplace.feature == f"qrspi/{slug_of(job.run)}":
        return  # a clone takes the branch that was checked out for the default one
    if workplace.feature != default or job.facts.config.feature_branch == default:
        return
    onto = f"qrspi next {job.run} --onto {quote(default)}"
    make = shell_words.git(workplace.repo.root, "switch", "-c", f"feature/{slug_of(job.run)}")
    text = (
        f"tasks are merged into {default}, the default branch, only when a person has named it: "
        f"`{onto}`; or make a branch for them with `{make}` and name that one"
    )
    raise Refusal(Problem("branch-not-named", text, "config.md", "feature_branch", hint=onto))


def clean(job: Job, place: Workplace, verb: str) -> None:
    """Files of runs do not count, since the engine itself is writing them."""
    runs = job.workspace.path.rpartition("/")[0]
    inside = f"{runs}/".removeprefix(f"{place.repo.root}/")
    dirty = (name for name in worktrees.dirty(place.repo) if not name.startswith(inside))
    changed = list(map(as_text, dirty))
    if changed:
        text = (
            f"the work tree at {place.repo.root} has changes that are not committed "
            f"({few(changed)}): commit or put them away, then {verb} again"
        )
        problem = Problem(
            "dirty-work-tree", text, changed[0], hint=shell_words.git(place.repo.root, "status")
        )
        raise Refusal(problem)
    if unseen := [name for name in hidden_changes(place.repo) if not name.startswith(inside)]:
        raise Refusal(_hidden(place.repo, unseen, verb))


def _hidden(repo: Repo, names: Sequence[str], verb: str) -> Problem:
    """`git status` says nothing about them."""
    seen = ("--no-assume-unchanged", "--no-skip-worktree")
    look = " && ".join(shell_words.git(repo.root, "update-index", each, names[0]) for each in seen)
    text = (
        f"{few(names)} at {repo.root} is not as committed, and git is told not to look at it: "
        f"`{look}`, commit it or put it away, then {verb} again"
    )
    return Problem("dirty-work-tree", text, names[0], hint=look)


def unstaged(place: Workplace, verb: str) -> None:
    """Files of runs count here too."""
    if not (names := worktrees.staged(place.repo)):
        return
    unstage = shell_words.git(place.repo.root, "restore", "--staged", "--", ".")
    text = (
        f"a change is staged in {place.repo.root} ({few(names)}), and git merges nothing as "
        f"long as there is one: commit it, or unstage it with `{unstage}`, then {verb} again"
    )
    raise Refusal(Problem("staged-change", text, names[0], hint=unstage))


def project_root(job: Job) -> str:
    return code_folder(job) or job.project


def project_tree(job: Job) -> Tree:
    """Each folder is listed once, however many tasks name it."""
    return Snapshot(DiskTree(project_root(job)))
