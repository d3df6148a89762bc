"""To have tests and commits speak of files that no commit has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack
from tests.deliveries import config, quick
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-17", "SEC-21", "SEC-22")


def changed(shop: Workshop, tree: Path) -> None:
    (tree / "a.py").write_text("good\n")


def hidden(*flags: str) -> Callable[[Workshop, Path], None]:
    def hide(shop: Workshop, tree: Path) -> None:
        changed(shop, tree)
        for flag in flags:
            shop.git("update-index", flag, "a.py", at=tree)

    return hide


def staged(shop: Workshop, tree: Path) -> None:
    changed(shop, tree)
    shop.git("add", "a.py", at=tree)


FLAGS = {
    "assumed unchanged": ("--assume-unchanged",),
    "not of the work tree": ("--skip-worktree",),
    "both": ("--assume-unchanged", "--skip-worktree"),
}
NOT_COMMITTED = {
    "changed": changed,
    "staged": staged,
    **{name: hidden(*flags) for name, flags in FLAGS.items()},
}


@attack("an agent", "the tests pass over code that is in no commit", NOT_COMMITTED)
def test_green_elsewhere(arena: Arena, way: Callable[[Workshop, Path], None]) -> None:
    gates = "gates: {test_command: 'grep -q good a.py'}\n"
    shop = Workshop(arena.project, {**quick(), "config.md": config("quick", gates)})
    assert arena.qrspi("trust", "--yes").code == 0
    shop.next()
    shop.finish("task-01", "a.py", "bad\n")
    arena.qrspi("next")
    assert "The tests failed" in arena.qrspi("resolve", "continue").text
    way(shop, shop.root)
    arena.qrspi("resolve", "rerun")
    said = arena.qrspi("next", "--json")
    assert (said.code, said.json["code"]) == (3, "dirty-work-tree"), said.text
    assert "passed" not in "".join(file.read_text() for file in shop.run.rglob("*-results.md"))


def beside(shop: Workshop, tree: Path) -> None:
    (tree / "new_test.py").write_text("bad\n")


def another_head(shop: Workshop, tree: Path) -> None:
    shop.work("task-01", "a.py", "good\n")


@attack(
    "an agent",
    "tests that are in no commit fail, as tests must before the code is written",
    {**NOT_COMMITTED, "beside them": beside, "in another commit": another_head},
)
def test_red_elsewhere(arena: Arena, way: Callable[[Workshop, Path], None]) -> None:
    gates = "gates: {test_command: '! grep -q good a.py'}\n"
    files = {**quick(), "config.md": config("quick", gates, test_writer="on")}
    shop = Workshop(arena.project, files)
    assert arena.qrspi("trust", "--yes").code == 0
    shop.next()
    commit = shop.work("task-01", "test_a.py", "nothing = 1\n")
    way(shop, shop.tree("task-01"))
    words = ("task", "report", "01", "--tests", "--status", "done", "--commit", commit, "--json")
    said = arena.qrspi(*words)
    assert (said.code, said.json["code"]) == (3, "head-differs"), said.text
    assert not (shop.run / "reviews/tasks/task-01/tests.md").exists()


@attack(
    "an agent",
    "a text or a record is hidden from git, so that no commit has it",
    {**FLAGS, "out of the index": ("--force-remove",), "ignored": ()},
)
def test_hidden_from_git(arena: Arena, way: tuple[str, ...]) -> None:
    run = arena.scene(scenes.clean)
    if not way:
        (arena.project / ".git/info").mkdir(exist_ok=True)
        (arena.project / ".git/info/exclude").write_text("*.jsonl\n*.md\n")
    assert arena.qrspi("approve", "goals", "--unreviewed").code == 0
    name = run.relative_to(arena.project).as_posix()
    for flag in way:
        for file in ("approvals.jsonl", "goals.md"):
            scenes.git(arena.project, "update-index", flag, f"{name}/{file}")
    assert arena.qrspi("rewind", "--to", "goals", "--yes").code == 0
    for file in ("approvals.jsonl", "goals.md"):
        assert scenes.git(arena.project, "show", f"HEAD:{name}/{file}") == (
            (run / file).read_text().strip()
        )
