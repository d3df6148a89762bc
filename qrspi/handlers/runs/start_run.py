"""Start a run: a folder of its own, or a config.md beside artifacts, on a suitable branch."""

from __future__ import annotations

from collections.abc import Collection

from qrspi.core.config import problems as config_problems
from qrspi.core.config.edit import initial, set_value
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.filenames import RUNS, is_run_name, slug_of
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import REQUEST, ROUTES, STEPS
from qrspi.core.records import approvals, step_text
from qrspi.core.steps.authoring import EMPTY_GOALS
from qrspi.core.text import shell_words
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.changes import change_set, code_repository, engine_files
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.handlers.runs import change_config, close_run
from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import branches, commits, refs, repository, worktrees
from qrspi.world.git.commits import Committed
from qrspi.world.git.repository import Repo
from qrspi.world.machine import git_person
from qrspi.world.runs import create_run
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import Change, Workspace

CONFIG, GOALS = "config.md", "goals.md"
BESIDE_ARTIFACTS = (CONFIG, approvals.FILE)  # what `adopt` writes


class Start(NamedTuple):
    created: str  # a date
    route: str  # quick, full or full-ux
    second_reviewer: bool
    visual_fidelity: bool = False
    request: str = ""  # what they want, in their own words
    reviews: tuple[tuple[str, str], ...] = ()  # how tasks are reviewed, as far as they said
    test_command: str = ""  # or none; '' when they have not said
    onto: str = ""  # the branch that tasks are merged into, if they named one
    base: str = ""  # what reviewers compare with, where git does not tell

    @property
    def pipeline(self) -> str:
        return "quick" if self.route == "quick" else "full"

    @property
    def steps(self) -> tuple[str, ...]:
        return ROUTES[self.route]

    def config(self, *, recorded: bool = True) -> bytes:
        config = initial(
            self.created,
            self.route,
            second_reviewer=self.second_reviewer,
            visual_fidelity_required=self.visual_fidelity,
            recorded=recorded,
            test_command=self.test_command,
        )
        branches = (("feature_branch", self.onto), ("base_branch", self.base))
        for field, value in (*self.reviews, *branches):
            put = set_value(config, field, value) if value else config
            assert isinstance(put, bytes), put
            config = put
        return config


def create(root: Root, name: str, start: Start) -> RunDir:
    contents = files(start, root.project)
    run = create_run.create_run(root, name, contents)
    workspace = Workspace(run.path)
    with workspace.locked():
        hashes = {path: atomic_write.sha256(data) for path, data in contents.items()}
        workspace.changes += [Change(path, None, after) for path, after in hashes.items()]
        performed = Performed("init", "", files=tuple(contents), who=git_person.at(run.path))
        carry_out.record(workspace, "cli", performed)
    return run


def files(start: Start, place: str) -> dict[str, bytes]:
    contents = {CONFIG: start.config(), GOALS: EMPTY_GOALS.encode()}
    if start.request:
        contents[REQUEST] = f"{start.request}\n".encode(errors="surrogateescape")
    return contents | {approvals.FILE: _said(start, place, contents[CONFIG])}


def _said(start: Start, place: str, config: bytes) -> bytes:
    return change_config.who_said(place, config, start.test_command, start.onto)


def check_free(root: Root, name: str) -> None:
    if isinstance(DiskTree(root.project).entries(""), Fault):
        message = f"{root.project} is not there: expected a directory to start a run in"
        raise Misuse(Problem("no-root", message, file=root.project))
    if not isinstance(DiskTree(root.runs_dir).entries(name), Fault):
        raise Refusal(create_run.already_there(f"{root.runs_dir}/{name}"))


def adopt(path: str, start: Start, lock_timeout: float) -> Performed:
    check_adoptable(CommittedTree(path))
    workspace = Workspace(path)
    performed = Performed("adopt", "", files=BESIDE_ARTIFACTS)
    config = start.config(recorded=False)
    with workspace.locked(lock_timeout):
        workspace.append(approvals.FILE, _said(start, path, config))
        workspace.create(CONFIG, config)
        carry_out.record(workspace, "cli", performed)
    return performed


def check_adoptable(tree: Tree) -> None:
    listing = tree.entries("")
    if isinstance(listing, Fault):
        why = "is not a directory" if listing.kind == "not-a-file" else "is not there"
        message = f"{tree.name} {why}: expected a directory with artifacts"
        raise Misuse(Problem("not-adoptable", message, file=tree.name))
    if not is_run_name(tree.name):
        raise Refusal(_odd_name(tree.name))
    names = {entry.name for entry in listing}
    if CONFIG in names:
        raise Refusal(_has_config(tree.name))
    if restore := tree.to_restore(CONFIG):
        raise Refusal(config_problems.gone(restore))
    if not holds_artifacts(names):
        raise Refusal(_no_artifacts(tree.name))


def holds_artifacts(names: Collection[str]) -> bool:
    return any(step.artifact.partition("/")[0] in names for step in STEPS)


def _odd_name(name: str) -> Problem:
    expected = "a name of letters, digits, '.', '_' and '-'"
    text = f"{name!r} cannot be a run: expected {expected}; give the folder such a name first"
    return Problem("not-adoptable", text, file=name, found=name, expected=expected)


def _has_config(name: str) -> Problem:
    text = (
        f"{name} has a {CONFIG} already: it is a run; `qrspi import {RUNS}/{name}` takes in what "
        "was made elsewhere"
    )
    return Problem("already-there", text, file=CONFIG, hint=f"qrspi import {RUNS}/{name}")


def _no_artifacts(name: str) -> Problem:
    listed = ", ".join(step.artifact for step in STEPS[:4])
    return Problem(
        "not-adoptable",
        f"{name} holds no artifact of a run: expected {listed} or a later one in it",
        file=name,
        expected="an artifact of a run",
        hint='qrspi init "TEXT" --pipeline quick',
    )


class Ground(NamedTuple):
    repo: Repo
    here: str
    new: str = ""  # the branch to be made; '' where one can stay
    base: str = ""  # for config.md, where no branch has the name of a default one


def find_ground(project: str, run: str, *, here: bool) -> Ground | None:
    """None outside git. Refused where a commit would be lost, or could not be made."""
    repo = repository.find(project)
    if repo is None:
        return None
    commits.check_ready(repo, "start the run")
    stands = repository.branch(repo) or ""
    begun = refs.head(repo) is not None
    base = "" if refs.default_branch(repo) or not begun else stands
    stay = here or not begun or not (base or branches.on_default(repo))
    return Ground(repo, stands, "" if stay else _free(repo, run), base)


def check_there(repo: Repo, name: str) -> None:
    if worktrees.tip(repo, name):
        return
    make = shell_words.git(repo.root, "switch", "-c", name)
    text = f"{name} is not a branch of {repo.root} with a commit: make it with `{make}`"
    raise Refusal(Problem("unknown-branch", text, field="--onto", found=name, hint=make))


def merge_onto(workspace: Workspace, options: Options, name: str) -> bool:
    """Whether that is new. What could not be merged into is not put on record."""
    close_run.must_be_open(workspace)
    job = change_set.look(workspace, options)
    repo = code_repository.repository_of(job)
    check_there(repo, name)
    code_repository.checked_out(job, repo, name, "run this command")
    change = change_config.setting(("feature_branch", name))
    timeout = options.lock_timeout
    return change_config.perform(workspace, "config set", change, timeout, options.actor).changed


def branch_names(run: str) -> tuple[str, str]:
    return f"qrspi/{slug_of(run)}", f"qrspi/{run}"


def _free(repo: Repo, run: str) -> str:
    names = branch_names(run)
    free = next((name for name in names if branches.is_free(repo, name)), None)
    if free:
        return free
    text = (
        f"branches {names[0]} and {names[1]} are there already: rename one of them, or go to a "
        "branch of your choice (`git switch -c NAME`) and start the run there"
    )
    hint = "git switch -c NAME"
    raise Refusal(Problem("foreign-branch", text, found=names[0], hint=hint))


def switch(ground: Ground) -> None:
    if ground.new:
        branches.switch_to_new(ground.repo, ground.new)


def commit_start(ground: Ground, run: DiskTree) -> str | None:
    texts = (name for step in STEPS for name in step_text.paths(run, step.name))
    repo = ground.repo._replace(path=run.path)
    message = f"docs(qrspi): start {slug_of(run.name)}"
    files = ("config.md", approvals.FILE, REQUEST, *texts)
    signed = tuple(engine_files.decided(Workspace(run.path)))
    committed = commits.commit(repo, files, message, signed)
    return committed.commit if isinstance(committed, Committed) else None
