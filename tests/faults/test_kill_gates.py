"""kill -9 at every change that a decision makes to the disk, its own and its git's: nothing is
approved without a record, no record is there twice, and the same command finishes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from qrspi import engine
from qrspi.core.tree import Fault
from qrspi.world.files.atomic_write import is_leftover
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace
from tests.cli.conftest import COMMAND
from tests.faults.strace import CHANGING, Point, error_points, kill_points, needs_strace
from tests.handlers.gates import DRAFT, NOW, TEXT, Gate, about, paused
from tests.runs import approved, artifact, clean, config, finding, manifest, score

pytestmark = [needs_strace, pytest.mark.slow]

PLAN = {
    "config.md": config("quick", gates="{test_command: none}"),
    **approved("goals", "questions", "research"),
    "plan.md": artifact(body="# Plan\n"),
    "tasks/task-01.md": artifact(body="# Task 01: One\n"),
}
DESIGN = {
    "config.md": config(),
    **approved("goals", "questions", "research"),
    "design.md": TEXT,
    **paused("design", TEXT, about("design", cites="goals.md:L7")),
}
ROUND = "reviews/goals/round-01"
MALFORMED = DRAFT | {
    f"{ROUND}/.dispatch-manifest.json": manifest(
        body=TEXT, dispatches=[{"tag": "quality-claude", "status": "complete"}]
    ),
    f"{ROUND}/scope-claude.clean.md": clean("scope-claude"),
    f"{ROUND}/quality-claude.finding-F01.md": b"no frontmatter\n",
    f"{ROUND}/quality-claude.finding-F02.md": finding(number=2),
    f"{ROUND}/quality-claude.finding-F02.score.yml": score(90),
}
UNSCORED = MALFORMED | {f"{ROUND}/quality-claude.finding-F01.md": finding()}
NAME = "scope-claude.R1-F01"


class Case(NamedTuple):
    files: dict[str, bytes]
    words: str
    git: bool = False  # git makes ten times as many changes as the command itself


CASES = {
    "approve": Case(PLAN, "approve plan --unreviewed", git=True),
    "reject": Case(DRAFT, "reject goals -m No."),
    "unapprove": Case(DESIGN, "unapprove research"),
    "rewind": Case(DESIGN, "rewind --to questions --yes", git=True),
    "loop-back": Case(DESIGN, f"decide {NAME} loop-back --yes"),
    "decide": Case(DESIGN, f"decide {NAME} apply"),
    "skip": Case(UNSCORED, "resolve skip"),
    "retry": Case(MALFORMED, "resolve retry"),
}


class Stage:
    """One project, put back to where it was before each kill."""

    def __init__(self, folder: Path, case: Case) -> None:
        self.case = case
        self.gate = Gate(folder / "shop", case.files, git=case.git)
        if case.files is DESIGN:
            engine.advance(Workspace(self.gate.run), self.gate.options)
        if case.git:
            self.gate.git("add", "--all")
            self.gate.git("commit", "-q", "--allow-empty", "-m", "ready")
        self.argv = [str(COMMAND), *case.words.split()]
        self.saved = folder / "saved"
        shutil.copytree(self.gate.root, self.saved, symlinks=True)

    def fresh(self) -> None:
        shutil.rmtree(self.gate.root)
        shutil.copytree(self.saved, self.gate.root, symlinks=True)

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.argv, cwd=self.gate.root, capture_output=True, text=True)

    def finish(self) -> None:
        """The same command; a lock that a killed git left is removed, as one is told to."""
        done = self.run()
        locks = list((self.gate.root / ".git").rglob("*.lock"))
        if done.returncode == 4 and locks:
            assert done.stderr.count("\n") <= 3, done.stderr
            for lock in locks:
                lock.unlink()
            done = self.run()
        assert done.returncode in (0, 3), done.stderr

    def left(self) -> tuple[dict[str, bytes], list[str], list[str]]:
        if not self.case.git:
            return self.gate.files(), [], []
        return self.gate.files(), self.gate.subjects(), self.gate.status()


def whole(gate: Gate) -> bool:
    """Every line of the record is one, and no artifact is approved without it."""
    tree = DiskTree(gate.run)
    data = tree.read("approvals.jsonl")
    lines = [] if isinstance(data, Fault) else data.splitlines()
    for line in lines:
        json.loads(line)
    plan = tree.read("plan.md")
    is_approved = isinstance(plan, bytes) and b"status: approved" in plan
    return bool(lines) or not is_approved


@pytest.mark.rule("ENG-04", "APV-01", "REJ-01", "BWL-01", "PSE-05", "FLR-01")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_same_command_finishes(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QRSPI_NOW", NOW)
    stage = Stage(tmp_path, case)
    done = stage.run()
    assert done.returncode == 0, done.stderr
    expected = stage.left()
    points: list[Point] = []
    for point in kill_points(stage.argv, stage.fresh, CHANGING, stage.gate.root):
        assert whole(stage.gate), point
        stage.finish()
        assert stage.left() == expected, point
        assert leftovers(stage.gate.run) == [], point
        points.append(point)
    assert any(point.code == -9 for point in points)


@pytest.mark.rule("ENG-05", "APV-03")
@pytest.mark.parametrize(
    "case", [CASES["approve"]._replace(git=False), CASES["reject"]], ids=["approve", "reject"]
)
def test_a_full_disk_harms_nothing(
    tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the approval it is a warning; before, it is one line."""
    monkeypatch.setenv("QRSPI_NOW", NOW)
    stage = Stage(tmp_path, case)
    assert stage.run().returncode == 0
    expected = stage.left()
    failing = ("write", "renameat", "linkat", "mkdirat")
    codes = set()
    for point in error_points(stage.argv, stage.fresh, "ENOSPC", failing, stage.gate.root):
        assert point.code in (0, 4), point
        said = [one for one in point.stderr.splitlines() if not one.startswith("no command runs")]
        assert len(said) <= 1, point
        assert whole(stage.gate), point
        stage.finish()
        assert stage.left() == expected, point
        assert leftovers(stage.gate.run) == [], point
        codes.add(point.code)
    assert 4 in codes


def leftovers(run: Path) -> list[str]:
    return [path.name for path in run.rglob("*") if is_leftover(path.name)]
