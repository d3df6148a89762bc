"""A full disk, a read-only tree, no permission, a git that is locked: one line, exit 4, and every
byte as it was; when the cause is gone the same command finishes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import scenes
from tests.daemons import COMMAND
from tests.faults import world
from tests.faults.strace import error_points, needs_strace
from tests.faults.world import World
from tests.users import plain_user, public

pytestmark = pytest.mark.rule("ENG-05")

_same_bytes_each_time = world._same_bytes_each_time
__all__ = ("public",)

WRITING = ("write", "pwrite64", "renameat", "linkat", "mkdirat", "rename", "mkdir", "link")
# The disk's own word, or git's; git goes on without its message and then finds that it has none.
SAID = "No space left on device|cannot|unable|fatal|failed|Aborting commit due to empty"
LINE = re.compile(rf"(loop: [^\n]*\n)?[^\n]*({SAID})[^\n]*(\n(  .*\n?)?)?")


def _full(tmp_path: Path, scene: scenes.Scene, syscalls: tuple[str, ...]) -> None:
    tried = World(tmp_path, scene)
    before = world.files(tried.run)
    after = tried.after()
    for point in error_points(tried.argv("next"), tried.fresh, "ENOSPC", syscalls):
        where = f"{point.syscall} number {point.number}: {point}"
        assert point.code in (0, 4), where
        silenced = "write(2, " in point.hit  # the message itself found no room
        assert point.code == 0 or silenced or LINE.fullmatch(point.stderr), where
        world.recovers(tried, before, after)


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("scene", [scenes.project, scenes.reviewed, scenes.fixed])
def test_a_disk_that_is_full_at_any_write(tmp_path: Path, scene: scenes.Scene) -> None:
    _full(tmp_path, scene, WRITING)


@needs_strace
def test_a_disk_that_is_full_when_a_file_gets_its_name(tmp_path: Path) -> None:
    _full(tmp_path, scenes.reviewed, ("linkat", "renameat"))


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.skipif(not shutil.which("mount"), reason="there is no mount")
@pytest.mark.parametrize("scene", [scenes.project, scenes.reviewed, scenes.fixed])
def test_a_disk_that_is_really_full(tmp_path: Path, scene: scenes.Scene) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        run = scene(disk / "project")
        before = world.files(run)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(b"x" * 4096)
        argv = [COMMAND, "--root", disk / "project", "next"]
        failed = subprocess.run(argv, capture_output=True, text=True)
        assert (failed.returncode, failed.stdout) == (4, "")
        assert LINE.fullmatch(failed.stderr), failed.stderr
        assert {name: world.files(run).get(name) for name in before} == before
        status = [COMMAND, "--root", disk / "project", "status"]
        assert subprocess.run(status, capture_output=True).returncode == 0
        filler.unlink()
        (disk / "project/.git/index.lock").unlink(missing_ok=True)
        done = subprocess.run(argv, capture_output=True, text=True)
        assert (done.returncode, world.leftovers(run)) == (0, []), done


@pytest.mark.parametrize("scene", [scenes.project, scenes.reviewed, scenes.fixed])
def test_a_run_that_may_only_be_read(public: Path, scene: scenes.Scene) -> None:
    run = scene(public / "project")
    before = world.files(run)
    with plain_user(public / "project", read_only=True) as user:
        refused = user.run(COMMAND, "--root", public / "project", "next")
        assert (refused.returncode, refused.stdout, refused.stderr) == (
            4,
            "",
            "cannot write .qrspi/lock: Permission denied\n",
        )
        assert user.run(COMMAND, "--root", public / "project", "status").returncode == 0
    assert world.files(run) == before


def test_a_folder_that_may_not_be_written_to(public: Path) -> None:
    run = scenes.reviewed(public / "project")
    before = world.files(run)
    with plain_user(public / "project") as user:
        (run / "reviews/goals").chmod(0o555)
        refused = user.run(COMMAND, "--root", public / "project", "next")
        (run / "reviews/goals").chmod(0o755)
        assert (refused.returncode, refused.stderr) == (
            4,
            f"cannot write {scenes.VERIFIED}: Permission denied\n",
        )
        assert world.files(run) == before
        assert user.run(COMMAND, "--root", public / "project", "next").returncode == 0
    assert world.leftovers(run) == []


def test_another_git_at_work(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    before, head = world.files(run), scenes.git(tmp_path, "rev-parse", "HEAD")
    lock = tmp_path / ".git/index.lock"
    lock.touch()
    argv = [COMMAND, "--root", tmp_path, "next"]
    refused = subprocess.run(argv, capture_output=True, text=True)
    assert (refused.returncode, refused.stdout, refused.stderr) == (
        4,
        "",
        f"{lock} exists: another git is at work in this repository, or one was killed; when none "
        f"is running, remove that file and run the same command again\n  rm {lock}\n",
    )
    assert (world.files(run), scenes.git(tmp_path, "rev-parse", "HEAD")) == (before, head)
    lock.unlink()
    assert subprocess.run(argv, capture_output=True).returncode == 0
    assert (run / scenes.ANCHOR).exists()


@pytest.mark.parametrize("name", ["write", "lock"])
def test_a_folder_in_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    run = scenes.reviewed(tmp_path)
    place = run / (scenes.VERIFIED if name == "write" else ".qrspi/lock")
    place.unlink(missing_ok=True)
    place.mkdir(parents=True)
    argv = [COMMAND, "--root", tmp_path, "next"]
    refused = subprocess.run(argv, capture_output=True, text=True)
    path = os.path.relpath(place, run)
    assert (refused.returncode, refused.stderr) == (4, f"cannot write {path}: Is a directory\n")
