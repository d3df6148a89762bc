"""Quick runs on disk, driven as `qrspi next` drives them. Shared by tests of the gates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qrspi import engine
from qrspi.core import reviewers
from qrspi.core.config import reader as configs
from qrspi.core.pipeline import ROUTES, STEP
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.project import Project, about

LOG = "cascade-audit.log"
RECORDS = "approvals.jsonl"
CASCADING = ("questions", "research", "plan")
BODY = "# Text\n\n## Approach\n\nWords.\n"
TASKS = {f"tasks/task-{number:02d}.md": runs.artifact(body="# Task\n") for number in (1, 2)}


def files(step: str, **config: str) -> dict[str, bytes]:
    """A run whose current step is `step`, with a text that nobody has reviewed."""
    earlier = ROUTES["quick"][: ROUTES["quick"].index(step)]
    body = runs.ASKING if step == "questions" else BODY
    text = runs.artifact(body=body)
    found = {"config.md": runs.config("quick", **config), STEP[step].artifact: text}
    return found | runs.approved(*earlier) | (TASKS if step == "plan" else {})


def make(root: Path, step: str = "questions", *, git: bool = False, **config: str) -> Path:
    return Project(root).begin(files(step, **config), git=git).run


def advance(run: Path, **options: Any) -> Outcome:
    return engine.advance(Workspace(run), Options(**options))


def tags(run: Path, step: str) -> tuple[str, ...]:
    return reviewers.expected_tags(about(step), configs.read((run / "config.md").read_bytes()))


def place(step: str, number: int = 1) -> str:
    return f"{STEP[step].reviews}/round-{number:02d}"


def put(run: Path, path: str, data: bytes | str) -> Path:
    file = run / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def say_clean(run: Path, step: str, number: int = 1) -> None:
    """Every reviewer finds nothing."""
    for tag in tags(run, step):
        put(run, f"{place(step, number)}/{tag}.clean.md", runs.clean(tag, number))


def reviewed(root: Path, step: str = "questions", *, git: bool = False, **config: str) -> Path:
    """A run whose first round is clean; what follows is the engine's."""
    run = make(root, step, git=git, **config)
    advance(run)
    say_clean(run, step)
    return run


def fixed(root: Path, step: str = "questions", **config: str) -> Path:
    """A run whose first round found something that was fixed, and whose second is open."""
    run = make(root, step, **config)
    advance(run)
    find(run, step)
    advance(run)
    fix(run, step, 1)
    advance(run)
    return run


def find(run: Path, step: str, number: int = 1, score: int = 90, kind: str = "correctness") -> None:
    """The first reviewer finds something, the others nothing. What a person decides has no score.
    Nothing that was written is taken away again: somebody may have read it."""
    first, *others = tags(run, step)
    folder = place(step, number)
    cites = f"{STEP[step].artifact}:L7"
    text = runs.finding(first, round=number, step=step, cites=cites, kind=kind)
    put(run, f"{folder}/{first}.finding-F01.md", text)
    if kind != "intent":
        put(run, f"{folder}/{first}.finding-F01.score.yml", runs.score(score))
    for tag in others:
        put(run, f"{folder}/{tag}.clean.md", runs.clean(tag, number))


def fix(run: Path, step: str, number: int) -> None:
    artifact = run / STEP[step].artifact
    artifact.write_bytes(artifact.read_bytes() + f"\nBetter after {number}.\n".encode())
    put(run, f"{place(step, number)}-dispositions.md", "Fixed.\n")


def status(run: Path, step: str) -> str:
    found = (run / STEP[step].artifact).read_bytes()
    return "approved" if b"\nstatus: approved\n" in found else "draft"
