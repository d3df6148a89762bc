"""To have merged what is in no diff that a reviewer was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.arena import Arena, workshop
from tests.attacks.test_hidden_code import EVIL, shown
from tests.attacks.trial import attack
from tests.deliveries import config, full, task
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-17")
STAGE = "qrspi/user-auth/stage-after-W1"
GOOD = "check = 1\n"


def hand_made(shop: Workshop, message: str, text: str, *options: str) -> None:
    """The branch of the stage, with a merge of both tasks that says something of its own."""
    tree = shop.root.parent / "aside"
    one, two = "qrspi/user-auth/task-01", "qrspi/user-auth/task-02"
    shop.git("worktree", "add", "-q", "-b", STAGE, str(tree), one)
    shop.git("merge", "-q", "--no-ff", "--no-commit", *options, two, at=tree)
    if text:
        (tree / "evil.py").write_text(text)
    shop.git("add", "--all", at=tree)
    shop.git("commit", "-q", "-m", message, at=tree)
    shop.git("worktree", "remove", "--force", str(tree))


@attack(
    "an agent",
    "a merge that others build on is made by hand, and says more or less than its parts",
    {
        "more": ("Merge both", f"{EVIL}\n"),
        "more, as the engine would": ("Merge task-01, task-02 into stage-after-W1", f"{EVIL}\n"),
        "less": ("Merge both", "", "--strategy=ours"),
        "less, as the engine would": (
            "Merge task-01, task-02 into stage-after-W1",
            "",
            "--strategy=ours",
        ),
    },
)
def test_a_stage(arena: Arena, way: tuple[str, ...]) -> None:
    plain = config("full", "gates: {test_command: none}\n")
    shop = Workshop(arena.project, {**full(), "config.md": plain})
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n")
    shop.work("task-02", "b.py", GOOD)
    shop.report("task-02")
    shop.next()
    shop.review("task-02", 1)
    hand_made(shop, *way)
    said = arena.qrspi("next").flat
    if shop.tree("task-03").exists():
        assert (shop.tree("task-03") / "b.py").read_text() == GOOD
        assert not (shop.tree("task-03") / "evil.py").exists()
    else:
        assert f"branch {STAGE} is there and has commits that this run did not make" in said


def of_another_task(shop: Workshop) -> None:
    """Its reviewers see what the task made since it began: nothing of that."""
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--strategy=ours", "-m", "x", "qrspi/user-auth/task-01", at=tree)


def of_the_feature(shop: Workshop) -> None:
    (shop.root / "a.py").write_text(GOOD)
    shop.git("commit", "-q", "-m", "a repair by its person", "a.py")
    shop.git("merge", "-q", "--strategy=ours", "-m", "x", "main", at=shop.tree("task-02"))


def in_part(shop: Workshop) -> None:
    """The merge keeps a file of the other task, and loses a line in it."""
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "qrspi/user-auth/task-01", at=tree)
    (tree / "a.py").write_text("a = 0\n")
    shop.git("commit", "-q", "-a", "-m", "x", at=tree)


def by_way_of_a_third(shop: Workshop) -> None:
    tree = shop.tree("task-02")
    shop.git("checkout", "-q", "-b", "third", "qrspi/user-auth/task-01", at=tree)
    shop.git("checkout", "-q", "qrspi/user-auth/task-02", at=tree)
    shop.git("merge", "-q", "--strategy=ours", "-m", "x", "third", at=tree)


@attack(
    "an agent",
    "a merge in its own branch takes the reviewed work of others out again",
    {
        "of another task": of_another_task,
        "of the feature branch": of_the_feature,
        "in part": in_part,
        "by way of a third": by_way_of_a_third,
    },
)
def test_taken_out(arena: Arena, way: Callable[[Workshop], None]) -> None:
    shop = workshop(arena, **{"tasks/task-02.md": task(2, files="b.py")})
    shop.next()
    shop.finish("task-01", "a.py", GOOD)
    way(shop)
    shop.finish("task-02", "b.py", "b = 1\n")
    for words in (("next",), ("resolve", "continue")):
        arena.qrspi(*words)
    said = arena.qrspi("next")
    assert shop.git("show", "main:a.py") == GOOD.strip()
    assert (said.code, "that its reviewers were not shown" in said.flat) == (3, True), said.text
    assert not shop.git("status", "--porcelain", "a.py", "b.py")
    redone(arena, shop)


def redone(arena: Arena, shop: Workshop) -> None:
    """The way out that is named works."""
    tree = shop.tree("task-02")
    shop.git("reset", "-q", "--hard", "main", at=tree)
    commit = shop.work("task-02", "b.py", "b = 2\n")
    words = ("task", "report", "task-02", "--status", "DONE", "--commit", commit)
    assert arena.qrspi(*words).code == 0
    assert arena.qrspi("rewind", "--to", "implement", "--yes").code == 0
    shop.next()
    shop.review("task-02", 2)
    for words in (("next",), ("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    assert shop.git("show", "main:a.py") == GOOD.strip()
    assert shop.git("show", "main:b.py") == "b = 2"


def a_driver(shop: Workshop, program: Path) -> None:
    shop.git("config", "merge.evil.driver", f"{program} %A")
    (shop.root / ".git/info/attributes").write_text("*.py merge=evil\n")


def a_hook(shop: Workshop, program: Path) -> None:
    hook = shop.root / ".git/hooks/pre-merge-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{program} a.py && git add a.py\n")
    hook.chmod(0o755)


def a_resolution(shop: Workshop, program: Path) -> None:
    """git remembers how a conflict was resolved, and takes it from there."""
    shop.git("config", "rerere.enabled", "true")
    shop.git("config", "rerere.autoUpdate", "true")
    a_driver(shop, program)


@attack(
    "an agent",
    "the engine's own merge is made to say more than its parts",
    {"a driver": a_driver, "a hook": a_hook, "a remembered resolution": a_resolution},
)
def test_more_than_its_parts(arena: Arena, way: Callable[[Workshop, Path], None]) -> None:
    """Programs of the user's own git run, as for the user; what they add is not kept."""
    shop = workshop(arena, **{"tasks/task-02.md": task(2, files="a.py")})
    program = arena.top / "adds"
    program.write_text(f'#!/bin/sh\necho "{EVIL}" >> "$1"\n')
    program.chmod(0o755)
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n")
    shop.finish("task-02", "a.py", "a = 2\n")
    way(shop, program)
    for words in (("next",), ("resolve", "continue"), ("next",), ("next",)):
        arena.qrspi(*words)
    assert "evil word" not in shop.git("grep", "-h", "", "main", "--", "*.py")
    assert "evil word" not in shown(shop.run)
