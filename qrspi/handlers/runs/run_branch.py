"""The branch that a new run is on: one of its own, unless its person is on one already."""

from __future__ import annotations

from shlex import quote

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import REQUEST, STEPS
from qrspi.core.records import approvals, step_text
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.runs import change_config
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import branches, commits, refs, repository, worktrees
from qrspi.world.git.commits import Committed
from qrspi.world.git.repository import Repo
from qrspi.world.runs.workspace import Workspace


class Ground(NamedTuple):
    """The repository that a run begins in."""

    repo: Repo
    here: str
    new: str = ""  # the branch to be made; '' where one can stay


def survey(project: str, run: str, *, here: bool) -> Ground | None:
    """None outside git. Refused where a commit would be lost, or could not be made."""
    repo = repository.find(project)
    if repo is None:
        return None
    commits.check_ready(repo, "start the run")
    stands = repository.branch(repo) or ""
    stay = here or not branches.on_default(repo) or refs.head(repo) is None
    return Ground(repo, stands, "" if stay else _free(repo, run))


def check_there(repo: Repo, name: str) -> None:
    """Tasks are merged into a branch that is there."""
    if worktrees.tip(repo, name):
        return
    make = f"git switch -c {quote(name)}"
    text = f"{name} is no branch of {repo.root} with a commit: make it with `{make}`"
    raise Refusal(Problem("unknown-branch", text, field="--onto", found=name, hint=make))


def merge_onto(workspace: Workspace, options: Options, name: str) -> None:
    """A person says which branch tasks are merged into."""
    check_there(code_repository.repository_of(change_set.look(workspace, options)), name)
    change = change_config.setting(("feature_branch", name))
    change_config.perform(workspace, "config set", change, options.lock_timeout, options.actor)


def _free(repo: Repo, run: str) -> str:
    """Named for the slug, or for the whole run where another has that branch."""
    names = (f"qrspi/{slug_of(run)}", f"qrspi/{run}")
    found = next((name for name in names if branches.is_free(repo, name)), None)
    if found:
        return found
    text = (
        f"branches {names[0]} and {names[1]} are there already: rename one of them, or go to a "
        "branch of your choice (`git switch -c NAME`) and start the run there"
    )
    hint = "git switch -c NAME"
    raise Refusal(Problem("foreign-branch", text, found=names[0], hint=hint))


def go(ground: Ground) -> None:
    if ground.new:
        branches.switch_to_new(ground.repo, ground.new)


def commit(ground: Ground, run: DiskTree) -> str | None:
    """Put a run on record as it begins: its config, and every text that is there."""
    texts = (name for step in STEPS for name in step_text.paths(run, step.name))
    repo = ground.repo._replace(path=run.path)
    message = f"docs(qrspi): start {slug_of(run.name)}"
    done = commits.commit(repo, ("config.md", approvals.FILE, REQUEST, *texts), message)
    return done.commit if isinstance(done, Committed) else None
