"""Odd repositories: each has its answer, from `next` and from the daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from qrspi.core.errors import Refusal
from tests import runs, scenes
from tests.daemons import COMMAND, Daemon
from tests.faults import world

ZEROS = "0" * 40


def detached(root: Path) -> Path:
    run = scenes.fixed(root)
    scenes.git(root, "checkout", "-q", "--detach")
    return run


def unborn(root: Path) -> Path:
    run = scenes.project(root, commit=False)
    scenes.git(root, "add", "--all")
    return run


def shallow(root: Path) -> Path:
    origin = root.with_name("origin")
    scenes.project(origin)
    scenes.git(origin, "commit", "-q", "--allow-empty", "-m", "more")
    scenes.git(root.parent, "clone", "-q", "--depth", "1", f"file://{origin}", root.name)
    return root / "docs/qrspi" / runs.RUN


def linked(root: Path) -> Path:
    main = root.with_name("main")
    scenes.project(main)
    scenes.git(main, "worktree", "add", "-q", "-b", "feature", str(root))
    return root / "docs/qrspi" / runs.RUN


def submodule(root: Path) -> Path:
    inner, outer = root.with_name("inner"), root.with_name("outer")
    scenes.project(inner)
    scenes.project(outer, "2026-01-01-outer-run")
    allow = ("-c", "protocol.file.allow=always")
    scenes.git(outer, *allow, "submodule", "add", "-q", str(inner), "sub")
    root.symlink_to(outer / "sub")
    return root / "docs/qrspi" / runs.RUN


def bare(root: Path) -> Path:
    """No work tree: as outside git, with no diff and no commits."""
    root.mkdir()
    scenes.git(root, "init", "-q", "--bare")
    return scenes.add_run(root, runs.RUN)


def no_git(root: Path) -> Path:
    root.mkdir()
    return scenes.add_run(root, runs.RUN)


GOOD: tuple[scenes.Scene, ...] = (unborn, shallow, linked, submodule, bare, no_git)


@pytest.mark.rule("ENG-04", "DIF-02")
@pytest.mark.parametrize("scene", GOOD)
def test_next_goes_on(tmp_path: Path, scene: scenes.Scene) -> None:
    run = scene(tmp_path / "project")
    done = scenes.advance(run)
    assert (done.state.next.action, done.state.next.who) == ("review", "agent")
    assert scenes.advance(run).performed == ()
    with_diff = list(run.glob("reviews/goals/*.diff"))
    assert bool(with_diff) == (scene not in (bare, no_git))
    assert world.leftovers(run) == []


@pytest.mark.rule("LIV-12")
def test_on_a_detached_head_next_stops_before_it_writes(tmp_path: Path) -> None:
    run = detached(tmp_path / "project")
    before = world.files(run)
    with pytest.raises(Refusal) as refusal:
        scenes.advance(run)
    assert (refusal.value.exit_code, refusal.value.problem.code) == (3, "detached-head")
    assert world.files(run) == before
    scenes.git(tmp_path / "project", "switch", "-q", "-c", "feature")
    assert scenes.advance(run).state.next.action == "review"


@pytest.mark.rule("DMN-01")
@pytest.mark.parametrize("scene", [shallow, linked, submodule, bare])
def test_the_daemon_goes_on(tmp_path: Path, scene: scenes.Scene) -> None:
    run = scene(tmp_path / "project")
    with Daemon(tmp_path / "project") as daemon:
        scenes.review(run)
        daemon.heard("performed", handler="assemble")
        assert (daemon.stop(), daemon.errors) == (0, "")


def test_a_rebase_under_way_is_waited_for(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    before = world.files(run)
    (tmp_path / ".git/rebase-merge").mkdir()
    argv = [COMMAND, "--root", tmp_path, "next"]
    refused = subprocess.run(argv, capture_output=True, text=True)
    assert (refused.returncode, refused.stdout, refused.stderr) == (
        4,
        "",
        f"a rebase is under way in {tmp_path}: finish or abort it, then commit again\n"
        f"  git -C {tmp_path} status\n",
    )
    assert world.files(run) == before
    (tmp_path / ".git/rebase-merge").rmdir()
    assert subprocess.run(argv, capture_output=True).returncode == 0


def test_an_anchor_that_is_gone_is_said_and_the_next_round_is_broad(tmp_path: Path) -> None:
    run = scenes.fixed(tmp_path)
    scenes.advance(run)
    (run / scenes.ANCHOR).write_text(f"{ZEROS}\n")
    second = "reviews/goals/round-02"
    scenes.save(run / second / scenes.FINDING, runs.finding(round=2))
    scenes.save(run / second / scenes.SCORE, runs.score(85))
    scenes.save(run / second / "scope-claude.clean.md", runs.clean("scope-claude", 2))
    scenes.advance(run)
    scenes.save(run / "goals.md", runs.artifact(body=f"{scenes.BODY}\nAgain.\n"))
    disposed = b"---\nround: 2\nartifact: goals\n---\n\n- quality-claude.R2-F01: applied\n"
    scenes.save(run / f"{second}-dispositions.md", disposed)
    done = {one.handler: one for one in scenes.advance(run).performed}
    parent = scenes.git(tmp_path, "rev-parse", "HEAD~1")
    assert done["prepare-round"].notes == (
        "HEAD~1 is not the prior per-round commit — broadening for round 03 (expected "
        f"{ZEROS}; HEAD~1 is {parent})",
    )
    assert (run / scenes.ANCHOR).read_text() == f"{ZEROS}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_another_user(tmp_path: Path) -> None:
    scenes.fixed(tmp_path / "project")
    for path in (tmp_path / "project", *(tmp_path / "project").rglob("*")):
        shutil.chown(path, 65534, 65534)
    argv = [COMMAND, "--root", tmp_path / "project", "next"]
    refused = subprocess.run(argv, capture_output=True, text=True)
    way_out = f"git config --global --add safe.directory {tmp_path}/project"
    assert (refused.returncode, refused.stdout, refused.stderr) == (
        4,
        "",
        f"{tmp_path}/project belongs to another user, and git reads no repository of somebody "
        f"else: if you trust it, run `{way_out}`\n",
    )
    watching = subprocess.run([*argv[:-1], "watch"], capture_output=True, text=True)
    assert (watching.returncode, watching.stderr) == (4, refused.stderr)
