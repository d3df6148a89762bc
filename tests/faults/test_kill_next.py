"""kill -9 at every change that `next` makes to the disk, git's changes among them: every file is
whole, nothing is on record twice, and the same command finishes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import scenes
from tests.faults import world
from tests.faults.strace import CHANGING, Point, kill_points, needs_strace
from tests.faults.world import World

pytestmark = [needs_strace, pytest.mark.rule("ENG-04")]

_same_bytes_each_time = world._same_bytes_each_time


def check(tried: World, before: world.Files, after: world.Outcome, point: Point) -> None:
    try:
        world.recovers(tried, before, after)
    except AssertionError as error:
        raise AssertionError(f"killed at {point.syscall} number {point.number}") from error


@pytest.mark.parametrize("scene", [scenes.project, scenes.reviewed, scenes.paused])
@pytest.mark.slow
def test_a_kill_anywhere(tmp_path: Path, scene: scenes.Scene) -> None:
    _killed_everywhere(tmp_path, scene, CHANGING)


@pytest.mark.slow
@pytest.mark.parametrize("syscall", CHANGING)
def test_a_kill_anywhere_between_commit_and_the_next_round(tmp_path: Path, syscall: str) -> None:
    _killed_everywhere(tmp_path, scenes.fixed, (syscall,))


def test_a_kill_where_a_file_gets_its_name(tmp_path: Path) -> None:
    """A few moments, for a quick look; `make faults` takes them all."""
    _killed_everywhere(tmp_path, scenes.fixed, ("linkat",))


def _killed_everywhere(tmp_path: Path, scene: scenes.Scene, syscalls: tuple[str, ...]) -> None:
    tried = World(tmp_path, scene)
    before = world.files(tried.run)
    after = tried.after()
    assert after.files != before
    for point in kill_points(tried.argv("next"), tried.fresh, syscalls):
        check(tried, before, after, point)
