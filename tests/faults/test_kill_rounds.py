"""kill -9 in the middle of a round: nobody sees half of anything, and the next command finishes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.config import reader
from qrspi.core.findings import guard
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.workspace import Workspace
from tests import runs
from tests.faults import drive_rounds
from tests.faults.strace import error_points, kill_points, needs_strace, python
from tests.faults.test_kill_writes import files, filled
from tests.scenes import git

pytestmark = needs_strace

ROUND = "reviews/goals/round-01"
BODY = runs.artifact(body="# Goals\n\n## Approach\n\nWords.\n")
PREPARED = {
    "config.md": runs.config(),
    "goals.md": BODY,
    f"{ROUND}/.dispatch-manifest.json": runs.manifest(body=BODY),
    f"{ROUND}/scope-claude.clean.md": runs.clean("scope-claude"),
}
SPLIT = {
    f"{ROUND}/quality-claude.finding-F01.md": runs.finding(),
    f"{ROUND}/quality-claude.finding-F02.md": runs.finding(number=2, kind="scope"),
}
SCORED = PREPARED | SPLIT | {f"{ROUND}/quality-claude.finding-F01.score.yml": runs.score(90)}


def seen(run: Path) -> tuple[str, ...]:
    """The findings that a reader takes from the round."""
    assert drive_rounds.GOALS is not None
    tree = DiskTree(run)
    settings = reader.read(tree.read("config.md"))
    found = guard.read_round(tree, drive_rounds.GOALS, 1, settings, None)
    return tuple(one.finding_id for one in found.findings)


@pytest.mark.rule("SPL-04", "ENG-04")
@pytest.mark.parametrize("command", ["split", "ingest"])
def test_nobody_sees_half_a_split(tmp_path: Path, command: str) -> None:
    run = tmp_path / runs.RUN
    argv = python("-m", "tests.faults.drive_rounds", command, str(run))
    outcomes = set()
    for point in kill_points(argv, filled(run, PREPARED), ("linkat", "unlinkat")):
        assert point.code == -9, point
        outcomes.add(seen(run))
        drive_rounds.go_on(Workspace(run))
        marked = seen(run)
        if not marked:  # it was killed before the marker stood; the same command does it all
            drive_rounds.COMMANDS[command](Workspace(run))
        assert {name: files(run)[name] for name in SPLIT} == SPLIT, point
        assert not list((run / ROUND).glob(".*.split"))
    assert outcomes <= {(), ("R1-F01", "R1-F02")}


@pytest.mark.rule("ENG-04", "ASM-01", "PSE-01")
def test_a_kill_while_assembling_is_made_good(tmp_path: Path) -> None:
    run = tmp_path / runs.RUN
    filled(run, SCORED)()
    drive_rounds.go_on(Workspace(run))
    whole = files(run)
    assert f"{ROUND}-verified.md" in whole
    assert "reviews/goals-loop-pause-round-01.md" in whole
    argv = python("-m", "tests.faults.drive_rounds", "next", str(run))
    for point in kill_points(argv, filled(run, SCORED), ("renameat", "linkat")):
        assert point.code == -9, point
        drive_rounds.go_on(Workspace(run))
        assert files(run) == whole, point


@pytest.fixture
def fixed(tmp_path: Path) -> tuple[Path, Callable[[], None]]:
    """A round in git that only has to be committed, and how to get back to it."""
    root = tmp_path / "shop"
    run = root / "docs" / "qrspi" / runs.RUN
    only = {name: data for name, data in SCORED.items() if "F02" not in name}

    def fresh() -> None:
        filled(root, {})()
        git(root, "init", "-q", "-b", "main")
        runs.on_disk(root, {"config.md": runs.config(), "goals.md": BODY})
        git(root, "add", "--all")
        git(root, "commit", "-qm", "start")
        runs.on_disk(root, only)
        drive_rounds.go_on(Workspace(run))
        done = {
            "goals.md": runs.artifact(body="# Goals\n\n## Approach\n\nOthers.\n"),
            f"{ROUND}-dispositions.md": b"# Done\n",
        }
        runs.on_disk(root, done)

    return run, fresh


@pytest.mark.rule("CMT-02", "ENG-04")
def test_a_kill_between_commit_and_anchor_makes_no_second_commit(
    fixed: tuple[Path, Callable[[], None]],
) -> None:
    run, fresh = fixed
    argv = python("-m", "tests.faults.drive_rounds", "commit", str(run))
    for point in kill_points(argv, fresh, ("renameat",)):  # git itself says rename
        assert point.code == -9, point
        assert git(run, "rev-list", "--count", "HEAD") == "2", point
        drive_rounds.commit(Workspace(run))
        assert git(run, "rev-list", "--count", "HEAD") == "2", point
        anchor = (run / f"{ROUND}-commit.txt").read_text()
        assert anchor == git(run, "rev-parse", "HEAD") + "\n"


@pytest.mark.rule("CNV-02")
def test_a_flag_that_cannot_be_deleted_is_said_and_the_round_goes_on(tmp_path: Path) -> None:
    run = tmp_path / runs.RUN
    closed = SCORED | {
        "goals.md": runs.artifact(body="# Goals\n\n## Approach\n\nOthers.\n"),
        f"{ROUND}-dispositions.md": b"# Done\n",
        f"{ROUND}-backward-loop.flag": b"",
        "reviews/goals/loop.md": b"---\nmode: loop\n---\n",
    }
    argv = python("-m", "tests.faults.drive_rounds", "next", str(run))
    line = (
        "Round 01: backward-loop flag delete failed — flag persists; manual remove may be required"
    )
    said = []
    for point in error_points(argv, filled(run, closed), "EPERM", ("unlinkat",)):
        if line in point.stdout:
            said.append(point)
            assert point.code == 0, point
            assert (run / "reviews/goals/round-02/.dispatch-manifest.json").exists()
            assert (run / f"{ROUND}-backward-loop.flag").exists()
    assert len(said) == 1
