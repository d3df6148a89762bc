"""Start a run: a folder of its own, or a config.md beside artifacts that are there already."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from qrspi.core.config import initial as config_initial
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES, STEPS
from qrspi.core.steps import skeleton
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Performed
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import create_run as newrun
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import Workspace

CONFIG, GOALS = "config.md", "goals.md"


class Start(NamedTuple):
    """What the person who starts a run has chosen."""

    created: str  # a date
    route: str  # quick, full or full-ux
    second_reviewer: bool
    visual_fidelity: bool = False

    @property
    def pipeline(self) -> str:
        return "quick" if self.route == "quick" else "full"

    @property
    def steps(self) -> tuple[str, ...]:
        return ROUTES[self.route]

    @property
    def config(self) -> bytes:
        return config_initial.initial(
            self.created,
            self.route,
            second_reviewer=self.second_reviewer,
            visual_fidelity_required=self.visual_fidelity,
        )


def create(root: Root, name: str, start: Start) -> RunDir:
    return newrun.create_run(root, name, files(start))


def files(start: Start) -> dict[str, bytes]:
    return {CONFIG: start.config, GOALS: skeleton.GOALS.encode()}


def check_free(root: Root, name: str) -> None:
    """What `create` would refuse."""
    if isinstance(DiskTree(root.project).entries(""), Fault):
        message = f"{root.project} is not there: expected a directory to start a run in"
        raise Misuse(Problem("no-root", message, file=root.project))
    if not isinstance(DiskTree(root.runs_dir).entries(name), Fault):
        raise Refusal(newrun.already_there(f"{root.runs_dir}/{name}"))


def adopt(path: str, start: Start, lock_timeout: float) -> Performed:
    """Write config.md, and nothing else, into a folder with artifacts."""
    check_adoptable(DiskTree(path))
    workspace = Workspace(path)
    done = Performed("adopt", "", files=(CONFIG,))
    with workspace.locked(lock_timeout):
        workspace.create(CONFIG, start.config)
        audit.record(workspace, "cli", done)
    return done


def check_adoptable(tree: Tree) -> None:
    listing = tree.entries("")
    if isinstance(listing, Fault):
        why = "is no directory" if listing.kind == "not-a-file" else "is not there"
        message = f"{tree.name} {why}: expected a directory with artifacts"
        raise Misuse(Problem("not-adoptable", message, file=tree.name))
    names = {entry.name for entry in listing}
    if CONFIG in names:
        raise Refusal(_has_config(tree.name))
    if not holds_artifacts(names):
        raise Refusal(_no_artifacts(tree.name))


def holds_artifacts(names: Collection[str]) -> bool:
    return any(step.artifact.partition("/")[0] in names for step in STEPS)


def _has_config(name: str) -> Problem:
    return Problem(
        "already-there",
        f"{name} has a {CONFIG} already: it is a run; `qrspi config validate` says whether the "
        "config is good",
        file=CONFIG,
        hint=f"qrspi status {name}",
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
