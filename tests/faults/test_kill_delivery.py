"""kill -9 while a task gets its work tree and while a phase is put away, in our process and in
its git: the same command finishes, and nothing is there twice."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.handlers.decisions import replan
from qrspi.world.runs.workspace import Workspace
from tests.cli.conftest import COMMAND
from tests.deliveries import PUT_AWAY, finished, full, quick, task
from tests.faults.strace import CHANGING, kill_points, needs_strace
from tests.handlers.workshop import Workshop

pytestmark = [needs_strace, pytest.mark.slow]


def kept(shop: Workshop) -> Callable[[], None]:
    """Puts the project back as it is now. In its place: work trees know their paths."""
    template = shop.root.with_name("template")
    shutil.copytree(shop.root, template, symlinks=True)

    def fresh() -> None:
        shutil.rmtree(shop.root)
        shutil.copytree(template, shop.root, symlinks=True)

    return fresh


def again(shop: Workshop, words: list[str]) -> None:
    """The same command; a lock that a killed git left is removed, as the message asks for."""
    done = subprocess.run([str(COMMAND), *words], cwd=shop.root, capture_output=True, text=True)
    if done.returncode:
        locks = list((shop.root / ".git").rglob("*.lock"))
        assert (done.returncode, bool(locks)) == (4, True), done.stderr
        for lock in locks:
            lock.unlink()
        subprocess.run([str(COMMAND), *words], cwd=shop.root, capture_output=True, check=True)


def start_at_a_stage(tmp_path: Path) -> Workshop:
    tasks = {
        "tasks/task-01.md": task(1),
        "tasks/task-02.md": task(2),
        "tasks/task-03.md": task(3, needs="task-01, task-02"),
    }
    shop = Workshop(tmp_path / "project", quick(tasks))
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.take("task-02", "b.py", "b = 1\n")
    return shop


@pytest.mark.rule("IMP-04", "ENG-04")
def test_a_task_that_was_killed_while_it_started_is_started(tmp_path: Path) -> None:
    shop = start_at_a_stage(tmp_path)
    tips = [shop.git("rev-parse", f"qrspi/user-auth/task-0{number}") for number in (1, 2)]
    words = ["task", "start", "03"]
    for point in kill_points([str(COMMAND), *words], kept(shop), CHANGING, cwd=shop.root):
        again(shop, words)
        stage = shop.git("rev-parse", "qrspi/user-auth/stage-before-task-03")
        parents = shop.git("rev-list", "--parents", "--max-count=1", stage).split()[1:]
        assert parents == tips, point
        assert shop.git("rev-parse", "HEAD", at=shop.tree("task-03")) == stage, point
        assert shop.git("status", "--porcelain", at=shop.tree("task-03")) == "", point
        places = shop.git("worktree", "list", "--porcelain").count("worktree ")
        assert (places, shop.has("reviews/tasks/task-03/start.md")) == (4, True), point
        exclude = (shop.root / ".git/info/exclude").read_text().splitlines()
        assert exclude.count(".worktrees/") == 1, point


@pytest.mark.rule("RP-03", "RP-05", "ENG-04")
def test_a_phase_that_was_killed_on_its_way_is_put_away(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "project", finished())
    shop.make(replan.minor)
    shop.approve("plan")
    words = ["next"]
    for point in kill_points([str(COMMAND), *words], kept(shop), CHANGING, cwd=shop.root):
        again(shop, words)
        assert shop.archived() >= PUT_AWAY, point
        assert shop.left() & (PUT_AWAY - {"parallelization.md"}) == set(), point
        events = [line["event"] for line in shop.records()]
        assert (events.count("phase"), shop.has("replan-pending.md")) == (1, False), point
        state = derive(Workspace(shop.run))
        assert (state.phase, state.current_step) == (2, "parallelize"), point
        assert shop.status() in ([], [" D docs/qrspi/2026-05-17-user-auth/replan-pending.md"])


def told_of_tests(shop: Workshop) -> list[str]:
    """What is on record: the choice that began the next phase, and the approval."""
    return [line["event"] for line in shop.records() if line["step"] == "test"]


@pytest.mark.rule("RP-02", "RP-05", "ENG-04")
def test_the_marker_is_there_before_the_tests_are_approved(tmp_path: Path) -> None:
    files = {**quick(), "phasing.md": full()["phasing.md"]}
    shop = Workshop(tmp_path / "project", files)
    shop.next()
    shop.take("task-01", "a.py", "a = 1\n")
    shop.next()
    shop.resolve("continue")
    shop.next()
    shop.review("test", 1, ("spec-claude", "code-quality-claude", "goal-traceability-claude"))
    shop.next()
    words = ["resolve", "ship"]
    for point in kill_points([str(COMMAND), *words], kept(shop), CHANGING, cwd=shop.root):
        approved = "status: approved" in shop.read("test-results.md")
        assert shop.has("replan-pending.md") or not approved, point
        assert "approve" in told_of_tests(shop) or not approved, point
        done = subprocess.run([str(COMMAND), *words], cwd=shop.root, capture_output=True, text=True)
        assert done.returncode in (0, 3, 4), (point, done.stderr)
        told = told_of_tests(shop)
        assert told == ["resolve", "approve"][: len(told)], point
        assert len(told) == 2 or done.returncode, point
