"""To lead the engine somewhere else: another repository, a folder outside, a file behind a link."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from qrspi.core.errors import Halt
from qrspi.world.git import commits, refs, repository
from tests import runs, scenes
from tests.attacks.arena import SECRET, Arena, workshop
from tests.attacks.trial import attack
from tests.project import Project

pytestmark = pytest.mark.rule("SEC-12", "SEC-14", "SEC-02")
RUN = f"docs/qrspi/{runs.RUN}"


def evil_repository(arena: Arena, place: Path) -> None:
    """Files that look like a bare repository, with a config and hooks that run something."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", place], check=True)
    (place / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f"\tworktree = {place}\n\tfsmonitor = {arena.program()}\n\thooksPath = {place}/hooks\n"
    )
    for name in ("pre-commit", "post-commit", "post-index-change", "reference-transaction"):
        hook = place / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{arena.touch}\n")
        hook.chmod(0o755)
    for folder in ("objects", "refs"):
        (place / folder / ".keep").touch()


@attack(
    "a clone",
    "a bare repository among the files is taken for the repository",
    {
        "in the run": RUN,
        "in docs/qrspi": "docs/qrspi",
        "in docs": "docs",
        "among the reviews": f"{RUN}/reviews/goals",
    },
)
def test_a_bare_repository(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.fixed)
    evil_repository(arena, arena.project / way)
    before = scenes.git(arena.project, "rev-list", "--count", "HEAD")
    arena.looks(at=arena.project / way)
    assert arena.qrspi("next", at=run).code == 0
    assert int(scenes.git(arena.project, "rev-list", "--count", "HEAD")) > int(before)


def as_folder(place: Path, evil: Path) -> None:
    (evil / ".git").rename(place / ".git")


def as_file(place: Path, evil: Path) -> None:
    (place / ".git").write_text(f"gitdir: {evil}/.git\n")


def as_link(place: Path, evil: Path) -> None:
    (place / ".git").symlink_to(evil / ".git")


def as_the_project(place: Path, evil: Path) -> None:
    """Its branch is what everything is merged into."""
    (place / ".git").write_text(f"gitdir: {evil.parent}/project/.git\n")


def as_submodule(place: Path, evil: Path) -> None:
    """As git itself would have made it."""
    modules = evil.parent / "project/.git/modules"
    modules.mkdir(exist_ok=True)
    (evil / ".git").rename(modules / "evil")
    (place / ".git").write_text(f"gitdir: {modules}/evil\n")


Plant = Callable[[Path, Path], None]


@attack(
    "an agent",
    "a .git beside the texts is taken for the repository",
    {
        f"{name} in {place}": (plant, folder)
        for name, plant in {"a folder": as_folder, "a file": as_file, "a link": as_link}.items()
        for place, folder in {"the run": RUN, "docs/qrspi": "docs/qrspi", "docs": "docs"}.items()
    }
    | {"a submodule in the run": (as_submodule, RUN)},
)
def test_a_git_in_the_run(arena: Arena, way: tuple[Plant, str]) -> None:
    """A whole repository, with hooks: what is committed would go there."""
    run = arena.scene(scenes.fixed)
    evil = Project(arena.top / "evil").begin({"x.md": b"x"})
    for name in ("pre-commit", "post-commit", "post-index-change", "reference-transaction"):
        evil.hook(name, arena.touch)
    plant, folder = way
    plant(arena.project / folder, evil.root)
    before = scenes.git(arena.project, "rev-parse", "HEAD")
    arena.looks(at=run)
    arena.looks()
    arena.qrspi("next", at=run)
    said = arena.qrspi("next", "--json")
    assert (said.code, said.json["code"]) == (4, "nested-repository")
    assert scenes.git(arena.project, "rev-parse", "HEAD") == before


@attack(
    "an agent",
    "a .git is put beside the texts after the engine has looked, and before git does",
    {
        f"{name} in {place}": (plant, folder)
        for name, plant in {"a folder": as_folder, "a file": as_file, "a link": as_link}.items()
        for place, folder in {"the run": RUN, "docs/qrspi": "docs/qrspi", "docs": "docs"}.items()
    },
)
def test_a_git_at_the_last_moment(arena: Arena, way: tuple[Plant, str]) -> None:
    """Whatever git then says, nothing is committed there, and no hook of it runs."""
    run = arena.scene(scenes.fixed)
    evil = Project(arena.top / "evil").begin({"x.md": b"x"})
    theirs = evil.git("rev-parse", "HEAD")
    for name in ("pre-commit", "post-commit", "post-index-change", "reference-transaction"):
        evil.hook(name, arena.touch)
    looked = repository.find(str(run))
    assert looked
    plant, folder = way
    plant(arena.project / folder, evil.root)
    (run / "goals.md").write_bytes(runs.artifact(body="# Other\n"))
    ours = scenes.git(arena.project, "rev-parse", "HEAD")
    if folder == RUN:
        assert refs.resolve(looked, "HEAD") == ours
    with suppress(Halt):
        commits.commit(looked, ["goals.md"], "docs(qrspi): goals")
    (arena.project / folder / ".git").rename(arena.top / "planted")
    assert scenes.git(arena.top, "--git-dir=planted", "rev-parse", "HEAD") == theirs


@attack(
    "a clone",
    "the settings of an unpacked repository lead its work tree out of the project",
    {"above": "../..", "outside": "../../outside", "absolute": "{top}", "a home": "{top}/home"},
)
def test_its_own_work_tree(arena: Arena, way: str) -> None:
    shop = workshop(arena)
    (arena.top / "home").mkdir()
    shop.git("config", "core.worktree", way.format(top=arena.top))
    there = sorted(arena.top.iterdir())
    arena.looks()
    for words in (("next",), ("task", "start", "01"), ("next",)):
        arena.qrspi(*words)
    assert sorted(arena.top.iterdir()) == there
    assert not list((arena.top / "home").iterdir())


@attack(
    "an agent",
    "the .git of a task's work tree leads to a repository of its own",
    {"a folder": as_folder, "a file": as_file, "a link": as_link, "the project's": as_the_project},
)
def test_the_git_of_a_work_tree(arena: Arena, way: Plant) -> None:
    shop = workshop(arena)
    shop.next()
    commit = shop.work("task-01", "a.py", "a = 1\n")
    tree, evil = shop.tree("task-01"), arena.top / "evil"
    shop.git("clone", "-q", str(shop.root), str(evil))
    Project(evil).git("checkout", "-q", "--detach", commit)
    Project(evil).git("config", "core.fsmonitor", str(arena.program("monitor")))
    for name in ("post-index-change", "reference-transaction"):
        Project(evil).hook(name, arena.touch)
    arena.ran.unlink(missing_ok=True)
    (tree / ".git").unlink()
    way(tree, evil)
    arena.qrspi("task", "report", "01", "--status", "done", "--commit", commit)
    assert "make it again" in arena.qrspi("next").flat
    assert "repaired" in arena.qrspi("task", "start", "01").text
    common = shop.git("rev-parse", "--path-format=absolute", "--git-common-dir", at=tree)
    assert common == str(shop.root / ".git")


@attack(
    "a clone",
    "a task's record leads its work tree out of the project",
    {
        "upwards": "../outside/tree",
        "far upwards": "../../../../../outside",
        "absolute": "{outside}/tree",
        "through a link": ".worktrees/link/tree",
        "into git": ".git/hooks",
    },
)
def test_a_work_tree(arena: Arena, way: str) -> None:
    shop = workshop(arena)
    shop.next()
    start = shop.run / "reviews/tasks/task-01/start.md"
    text = start.read_text()
    place = next(line for line in text.splitlines() if line.startswith("worktree:"))
    (arena.project / ".worktrees/link").symlink_to(arena.outside)
    shop.git("worktree", "remove", "--force", str(shop.tree("task-01")))
    start.write_text(text.replace(place, f"worktree: {way.format(outside=arena.outside)}"))
    hooks = sorted((arena.project / ".git/hooks").glob("*"))
    for words in (("task", "start", "01"), ("next",), ("task", "list"), ("prompt",)):
        arena.qrspi(*words)
    assert sorted((arena.project / ".git/hooks").glob("*")) == hooks


@attack(
    "a clone",
    "a task's record names a branch that is not the task's",
    {
        "the feature branch": "main",
        "another of the user's": "private",
        "another task's": "qrspi/user-auth/task-02",
        "an option": "--orphan=x",
        "a commit": "HEAD~0",
    },
)
def test_a_branch(arena: Arena, way: str) -> None:
    """Nothing of it is checked out where the task's work tree is, and none is moved or made."""
    shop = workshop(arena)
    shop.next()
    shop.git("branch", "private")
    start = shop.run / "reviews/tasks/task-01/start.md"
    text = start.read_text()
    named = next(line for line in text.splitlines() if line.startswith("branch:"))
    shop.git("worktree", "remove", "--force", str(shop.tree("task-01")))
    start.write_text(text.replace(named, f'branch: "{way}"'))
    before = shop.branches()
    assert arena.qrspi("task", "start", "01").code == 3
    for words in (("next",), ("task", "list"), ("task", "clean")):
        arena.qrspi(*words)
    assert shop.branches() == before and not shop.tree("task-01").exists()


FOREIGN = {
    "its folder": {"GIT_DIR": "{other}/.git"},
    "its folder and files": {"GIT_DIR": "{other}/.git", "GIT_WORK_TREE": "{other}"},
    "its index": {"GIT_INDEX_FILE": "{other}/.git/index"},
    "its objects": {"GIT_OBJECT_DIRECTORY": "{other}/.git/objects"},
    "its shared folder": {"GIT_COMMON_DIR": "{other}/.git"},
    "its part of names": {"GIT_NAMESPACE": "other"},
}


@attack("a clone", "what git told a hook of one repository is taken for the project's", FOREIGN)
def test_a_hooks_variables(
    arena: Arena, way: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is called by a hook has them; nothing of the other repository is read or written."""
    run = arena.scene(scenes.fixed)
    other = Project(arena.top / "other").begin({"x.md": b"x"})
    theirs = runs.contents(other.root)
    before = scenes.git(arena.project, "rev-list", "--count", "HEAD")
    for name, value in way.items():
        monkeypatch.setenv(name, value.format(other=other.root))
    arena.looks(at=run)
    assert arena.qrspi("next", at=run).code == 0
    for name in way:
        monkeypatch.delenv(name)
    assert runs.contents(other.root) == theirs
    assert int(scenes.git(arena.project, "rev-list", "--count", "HEAD")) > int(before)


@attack(
    "a clone",
    "the folder of work trees is a link out of the project",
    {
        "the folder": (".worktrees", "."),
        "the run's part": (".worktrees/user-auth", "."),
        "the task's": (".worktrees/user-auth/task-01", "."),
        "the task's, and nothing there": (".worktrees/user-auth/task-01", "new"),
    },
)
def test_linked_work_trees(arena: Arena, way: tuple[str, str]) -> None:
    shop = workshop(arena)
    place, target = way
    (arena.project / place).parent.mkdir(exist_ok=True, parents=True)
    (arena.project / place).symlink_to(arena.outside / target)
    shop.next()
    arena.qrspi("task", "start", "01")


@attack(
    "a clone",
    "a file of the run is a link to a private one",
    {
        name: name
        for name in (
            "goals.md",
            "config.md",
            "request.md",
            "approvals.jsonl",
            ".qrspi/audit.jsonl",
            "cascade-audit.log",
            "reviews/goals/round-01/quality-claude.finding-F01.md",
            "reviews/goals/round-01/.dispatch-manifest.json",
        )
    },
)
def test_a_linked_file(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.reviewed)
    (run / way).unlink(missing_ok=True)
    (run / way).symlink_to(arena.outside / "private.md")
    arena.looks()
    for words in (("next",), ("approve", "goals", "--unreviewed"), ("validate", way)):
        arena.qrspi(*words, at=run)
    prompts = run.rglob("*.md")
    assert not [file for file in prompts if not file.is_symlink() and SECRET in file.read_text()]


@attack(
    "a clone",
    "a folder of the run is a link out of the project",
    {
        name: name
        for name in ("reviews", "reviews/goals", "reviews/goals/round-01", "tasks", ".qrspi")
    },
)
def test_a_linked_folder(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.reviewed)
    if (run / way).exists():
        (run / way).rename(arena.top / "aside")
    (run / way).symlink_to(arena.outside)
    arena.looks()
    arena.qrspi("next")
    arena.qrspi("reject", "goals", "-m", "No.")


@attack(
    "a clone",
    "a run that was unpacked in a folder above is taken for one of the project",
    {
        "of a repository": lambda mine: scenes.git(mine, "init", "-q"),
        "deep in a repository": lambda mine: (
            scenes.git(mine, "init", "-q"),
            (mine / "deep/er").mkdir(parents=True),
        ),
        "of a work tree": lambda mine: (
            mine.rmdir(),
            scenes.project(mine.parent / "main", "2026-01-01-mine"),
            scenes.git(mine.parent / "main", "worktree", "add", "-q", "--detach", mine),
        ),
        "of a repository with a run in it": lambda mine: scenes.project(mine, "2026-01-01-mine"),
    },
)
def test_above(arena: Arena, way: Callable[[Path], object]) -> None:
    """All of it is the user's own. Theirs is a command for the tests."""
    theirs = arena.clone(gates=f"{{test_command: '{arena.touch}'}}")
    mine = arena.project / "mine"
    mine.mkdir()
    way(mine)
    at = mine / "deep/er" if (mine / "deep").exists() else mine
    before = runs.contents(theirs)
    for words in (("status",), ("next",), ("trust", "--yes"), ("init", "another", "--quick")):
        assert runs.RUN not in arena.qrspi(*words, at=at).text
    assert runs.contents(theirs) == before
    assert sorted(theirs.parent.iterdir()) == [theirs]


@attack(
    "a clone",
    "the folder of runs is a link out of the project",
    {
        "it": ("docs/qrspi", ""),
        "the one above": ("docs", ""),
        "a run in it": (RUN, ""),
        "on a way that leads back": ("docs/qrspi", "project/../"),
    },
)
def test_linked_runs(arena: Arena, way: tuple[str, str]) -> None:
    arena.scene(scenes.reviewed)
    name, by = way
    (arena.project / name).rename(arena.top / "theirs")
    (arena.project / name).symlink_to(arena.top / f"{by}theirs")
    before = sorted((arena.top / "theirs").rglob("*"))
    assert arena.qrspi("next").code != 0
    assert sorted((arena.top / "theirs").rglob("*")) == before


@attack(
    "an agent",
    "a record is a second name of a file outside",
    {
        name: name
        for name in (
            "approvals.jsonl",
            ".qrspi/audit.jsonl",
            "feedback/comments.jsonl",
            "goals.md",
        )
    },
)
def test_a_hard_link(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.clean)
    log, elsewhere = run / way, arena.top / "elsewhere"
    log.parent.mkdir(exist_ok=True)
    elsewhere.write_bytes(log.read_bytes() if log.exists() else b"")
    before = elsewhere.read_bytes()
    log.unlink(missing_ok=True)
    os.link(elsewhere, log)
    arena.qrspi("next")
    arena.qrspi("comment", "goals.md:L1", "-m", "x")
    arena.qrspi("approve", "goals", "--unreviewed")
    assert elsewhere.read_bytes() == before


@attack(
    "an agent",
    "empty folders outside are removed, where work trees are cleaned up behind a link",
    {"the folder": ".worktrees", "the run's part": ".worktrees/user-auth"},
    no_more="no other folder above a work tree is removed",
)
def test_cleaned(arena: Arena, way: str) -> None:
    arena.clone()
    elsewhere = arena.top / "elsewhere"
    (elsewhere / "user-auth" / "empty").mkdir(parents=True)
    link = arena.project / way
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    assert arena.qrspi("close", "--reason", "Done.").code == 0
    assert arena.qrspi("task", "clean").code == 0
    assert (elsewhere / "user-auth" / "empty").is_dir()
