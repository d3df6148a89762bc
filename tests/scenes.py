"""Runs in a real repository, brought to a certain point: for tests with real processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qrspi import engine
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace
from tests import begun, runs
from tests.project import Project

TAGS = ("quality-claude", "scope-claude")
FINDING = "quality-claude.finding-F01.md"
SCORE = "quality-claude.finding-F01.score.yml"
ROUND = "reviews/goals/round-01"
VERIFIED = "reviews/goals/round-01-verified.md"
DISPOSITIONS = "reviews/goals/round-01-dispositions.md"
ANCHOR = "reviews/goals/round-01-commit.txt"
Scene = Callable[[Path], Path]

BODY = "# Goals\n\n## Approach\n\nA page that loads.\n"


def git(project: Path, *args: str) -> str:
    return Project(project).git(*args)


def project(root: Path, *names: str, commit: bool = True) -> Path:
    """A repository with runs whose goals nobody has reviewed; the first run's directory. Without
    `commit` they are in no commit, and the engine is told to make none."""
    names = names or (runs.RUN,)
    begun.begin(root, (names, commit), lambda: _begin(root, names, commit))
    return root / "docs" / "qrspi" / names[0]


def _begin(root: Path, names: tuple[str, ...], commit: bool) -> None:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    for name in names:
        add_run(root, name, by_hand=not commit)
    if commit:
        commit_all(root)


def add_run(root: Path, name: str, *, by_hand: bool = False) -> Path:
    config = runs.config(commit="off") if by_hand else runs.config()
    files = {"config.md": config, "goals.md": runs.artifact(body=BODY)}
    return runs.on_disk(root, files, name)


def commit_all(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "-q", "--allow-empty", "-m", "work")


def advance(run: Path) -> Outcome:
    return engine.advance(Workspace(run), Options())


def save(file: Path, data: bytes) -> None:
    """As careful writers do."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.tmp")
    draft.write_bytes(data)
    draft.rename(file)


def review_clean(run: Path, folder: str = ROUND) -> None:
    for tag in TAGS:
        save(run / folder / f"{tag}.clean.md", runs.clean(tag))


def review(run: Path, folder: str = ROUND) -> None:
    """One finding, scored; the other reviewer found nothing."""
    save(run / folder / FINDING, runs.finding())
    save(run / folder / SCORE, runs.score(85))
    save(run / folder / "scope-claude.clean.md", runs.clean("scope-claude"))


def fix(run: Path) -> None:
    save(run / "goals.md", runs.artifact(body=BODY + "\nWithin a second.\n"))
    head = "---\nround: 1\nartifact: goals\n---\n\n# Round 01 dispositions\n\n"
    save(run / DISPOSITIONS, f"{head}- quality-claude.R1-F01: applied\n".encode())


def prepared(root: Path) -> Path:
    run = project(root)
    advance(run)
    return run


def reviewed(root: Path) -> Path:
    run = prepared(root)
    review(run)
    return run


def assembled(root: Path) -> Path:
    run = reviewed(root)
    advance(run)
    return run


def fixed(root: Path) -> Path:
    run = assembled(root)
    fix(run)
    return run


def paused(root: Path) -> Path:
    """A person must choose: the finding is about what is built at all."""
    run = prepared(root)
    review(run)
    save(run / ROUND / FINDING, runs.finding(kind="intent"))
    (run / ROUND / SCORE).unlink()
    return run


def reviewed_badly(root: Path) -> Path:
    """A finding without a field that it must have."""
    run = prepared(root)
    review(run)
    save(run / ROUND / FINDING, runs.finding().replace(b"severity", b"gravity"))
    return run


def clean(root: Path) -> Path:
    run = prepared(root)
    review_clean(run)
    return run


def complete(root: Path) -> Path:
    files = {"config.md": runs.config(route="[goals]"), **runs.approved("goals")}
    return runs.on_disk(root, files)
