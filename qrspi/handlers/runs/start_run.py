"""Start a run: a folder of its own, or a config.md beside artifacts that are there already."""

from __future__ import annotations

from collections.abc import Collection

from qrspi.core.config.edit import initial, set_value
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.filenames import RUNS, is_run_name
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import REQUEST, ROUTES, STEPS
from qrspi.core.records import approvals
from qrspi.core.steps.authoring import EMPTY_GOALS
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Performed
from qrspi.handlers.runs import change_config
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import create_run
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import Workspace

CONFIG, GOALS = "config.md", "goals.md"


class Start(NamedTuple):
    """What the person who starts a run has chosen."""

    created: str  # a date
    route: str  # quick, full or full-ux
    second_reviewer: bool
    visual_fidelity: bool = False
    request: str = ""  # what they want, in their own words
    reviews: tuple[tuple[str, str], ...] = ()  # how tasks are reviewed, as far as they said
    test_command: str = ""  # or none; '' when they have not said
    onto: str = ""  # the branch that tasks are merged into, if they named one

    @property
    def pipeline(self) -> str:
        return "quick" if self.route == "quick" else "full"

    @property
    def steps(self) -> tuple[str, ...]:
        return ROUTES[self.route]

    def config(self, *, recorded: bool = True) -> bytes:
        made = initial(
            self.created,
            self.route,
            second_reviewer=self.second_reviewer,
            visual_fidelity_required=self.visual_fidelity,
            recorded=recorded,
            test_command=self.test_command,
        )
        onto = (("feature_branch", self.onto),) if self.onto else ()
        for field, value in (*self.reviews, *onto):
            put = set_value(made, field, value)
            assert isinstance(put, bytes), put
            made = put
        return made


def create(root: Root, name: str, start: Start) -> RunDir:
    return create_run.create_run(root, name, files(start, root.project))


def files(start: Start, place: str) -> dict[str, bytes]:
    made = {CONFIG: start.config(), GOALS: EMPTY_GOALS.encode()}
    if start.request:
        made[REQUEST] = f"{start.request}\n".encode(errors="surrogateescape")
    return made | _answers(start, place)


def _answers(start: Start, place: str) -> dict[str, bytes]:
    """What was said about the tests and the branch, on record with who said it."""
    said = change_config.who_said(place, start.test_command, start.onto)
    return {approvals.FILE: said} if said else {}


def check_free(root: Root, name: str) -> None:
    """What `create` would refuse."""
    if isinstance(DiskTree(root.project).entries(""), Fault):
        message = f"{root.project} is not there: expected a directory to start a run in"
        raise Misuse(Problem("no-root", message, file=root.project))
    if not isinstance(DiskTree(root.runs_dir).entries(name), Fault):
        raise Refusal(create_run.already_there(f"{root.runs_dir}/{name}"))


def adopt(path: str, start: Start, lock_timeout: float) -> Performed:
    """Write config.md, and what was said besides, into a folder with artifacts."""
    check_adoptable(DiskTree(path))
    workspace = Workspace(path)
    done = Performed("adopt", "", files=beside_artifacts(start))
    with workspace.locked(lock_timeout):
        for name, data in _answers(start, path).items():
            workspace.append(name, data)
        workspace.create(CONFIG, start.config(recorded=False))
        carry_out.record(workspace, "cli", done)
    return done


def beside_artifacts(start: Start) -> tuple[str, ...]:
    """What `adopt` writes."""
    return (CONFIG, approvals.FILE) if start.test_command else (CONFIG,)


def check_adoptable(tree: Tree) -> None:
    listing = tree.entries("")
    if isinstance(listing, Fault):
        why = "is no directory" if listing.kind == "not-a-file" else "is not there"
        message = f"{tree.name} {why}: expected a directory with artifacts"
        raise Misuse(Problem("not-adoptable", message, file=tree.name))
    if not is_run_name(tree.name):
        raise Refusal(_odd_name(tree.name))
    names = {entry.name for entry in listing}
    if CONFIG in names:
        raise Refusal(_has_config(tree.name))
    if not holds_artifacts(names):
        raise Refusal(_no_artifacts(tree.name))


def holds_artifacts(names: Collection[str]) -> bool:
    return any(step.artifact.partition("/")[0] in names for step in STEPS)


def _odd_name(name: str) -> Problem:
    expected = "a name of letters, digits, '.', '_' and '-'"
    text = f"{name!r} cannot be a run: expected {expected}; give the folder such a name first"
    return Problem("not-adoptable", text, file=name, found=name, expected=expected)


def _has_config(name: str) -> Problem:
    return Problem(
        "already-there",
        f"{name} has a {CONFIG} already: it is a run; `qrspi import {RUNS}/{name}` takes in what "
        "was made elsewhere",
        file=CONFIG,
        hint=f"qrspi import {RUNS}/{name}",
    )


def _no_artifacts(name: str) -> Problem:
    listed = ", ".join(step.artifact for step in STEPS[:4])
    return Problem(
        "not-adoptable",
        f"{name} holds no artifact of a run: expected {listed} or a later one in it",
        file=name,
        expected="an artifact of a run",
        hint="qrspi init SLUG --pipeline quick",
    )
