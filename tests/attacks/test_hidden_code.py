"""To have code merged that no reviewer was shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import scenes
from tests.attacks.arena import Arena, workshop
from tests.attacks.trial import attack
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-17", "SEC-14")
EVIL = "print('evil word')"


def shown(run: Path) -> str:
    """All that reviewers are given."""
    diffs = [*run.rglob("*.diff"), *run.rglob("*.patch")]
    return "".join(file.read_text(errors="replace") for file in diffs)


Hide = Callable[[Workshop, Path], object]


def attributes(line: str) -> Hide:
    return lambda shop, tree: (tree / ".gitattributes").write_text(f"{line}\n")


def own_attributes(shop: Workshop, tree: Path) -> None:
    """Of the clone alone: no commit has them."""
    file = shop.root / ".git/info/attributes"
    file.parent.mkdir(exist_ok=True)
    file.write_text("*.py -diff\n")


def configured(*words: str) -> Hide:
    return lambda shop, tree: shop.git("config", *words)


HIDDEN: dict[str, Hide] = {
    "no diff": attributes("*.py -diff"),
    "binary": attributes("*.py binary"),
    "a macro": attributes("[attr]x -diff -text\n*.py x"),
    "a driver": attributes("*.py diff=evil"),
    "not exported": attributes("*.py export-ignore -diff"),
    "another encoding": attributes("*.py working-tree-encoding=ISO-8859-1"),
    "attributes of the clone": own_attributes,
    "attributes by config": configured("core.attributesFile", "/dev/null"),
    "an external diff": configured("diff.external", "true"),
    "ignored white space": configured("diff.ignoreSubmodules", "all"),
    "no context, no prefix": configured("diff.noprefix", "true"),
    "a great file": configured("core.bigFileThreshold", "1"),
}


def reviewed(arena: Arena, hide: Hide, text: str, name: str = "a.py") -> Workshop:
    shop = workshop(arena)
    shop.next()
    tree = shop.tree("task-01")
    hide(shop, tree)
    (tree / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    shop.git("add", "--all", "--force", at=tree)
    shop.git("commit", "-q", "-m", "work", at=tree)
    shop.report("task-01")
    shop.next()
    return shop


def nothing(shop: Workshop, tree: Path) -> None:
    """No preparation."""


@attack("an agent", "attributes or settings take code out of the diff", HIDDEN)
def test_attributes(arena: Arena, way: Hide) -> None:
    assert "evil word" in shown(reviewed(arena, way, f"a = 1\n{EVIL}\n").run)


@attack(
    "an agent",
    "bytes in the code take it out of the diff, or out of sight",
    {
        "a NUL": f"a = 1 # \0\n{EVIL}\n",
        "no text": f"\udcff\udcfe\udc80\n{EVIL}\n",
        "a long line": f"{'x' * 300_000}{EVIL}\n",
        "returns for line ends": f"a = 1\r{EVIL}\r",
        "no line end": EVIL,
        "escapes": f"\x1b[8m{EVIL}\x1b[0m\n",
    },
)
def test_bytes(arena: Arena, way: str) -> None:
    assert "evil word" in shown(reviewed(arena, nothing, way).run)


@attack("an agent", "code is called binary, and nobody is told of it")
def test_binary(arena: Arena) -> None:
    shop = reviewed(arena, nothing, "\0" * 500 + f"\n{EVIL}\n")
    assert "binary, not shown: 520 bytes" in shown(shop.run)
    shop.review("task-01", 1)
    shop.next()
    assert "a.py" in arena.qrspi("next").flat


@attack(
    "an agent",
    "a file has a name that is not looked at",
    {
        "hidden": ".evil.py",
        "ignored": "evil.pyc",
        "a new line": "a\nb.py",
        "an option": "--stat",
        "magic": ":(exclude)a.py",
        "a quote": '"a".py',
        "in a folder of the runs": "docs/qrspi.py",
    },
)
def test_names(arena: Arena, way: str) -> None:
    def prepare(shop: Workshop, tree: Path) -> None:
        (tree / ".gitignore").write_text("*.pyc\n")
        (tree / way).parent.mkdir(exist_ok=True)

    assert "evil word" in shown(reviewed(arena, prepare, f"{EVIL}\n", way).run)


def moved_base(shop: Workshop, commits: list[str]) -> None:
    start = shop.run / "reviews/tasks/task-01/start.md"
    text = start.read_text()
    old = next(line for line in text.splitlines() if line.startswith("base_commit:"))
    start.write_text(text.replace(old, f"base_commit: {commits[0]}"))


def replaced_commit(shop: Workshop, commits: list[str]) -> None:
    base = shop.git("rev-parse", f"{commits[0]}^")
    shop.git("replace", base, commits[0])


def grafted(shop: Workshop, commits: list[str]) -> None:
    file = shop.root / ".git/info/grafts"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{commits[1]} {commits[0]}\n{commits[0]}\n")


def moved_branch(shop: Workshop, commits: list[str]) -> None:
    """The feature branch itself is moved to behind the bad commit."""
    moved_base(shop, commits)
    start = (shop.run / "reviews/tasks/task-01/start.md").read_text()
    said = [line for line in start.splitlines() if line.startswith("feature_branch:")]
    name = said[0].split(": ")[1].strip('"') if said else "main"
    shop.git("update-ref", f"refs/qrspi-evil/{name}", commits[0])


@attack(
    "an agent",
    "what a diff begins with is moved behind the bad commit",
    {
        "in the task's record": moved_base,
        "by a replacement": replaced_commit,
        "by a graft": grafted,
        "in the record and a ref": moved_branch,
    },
)
def test_the_base(arena: Arena, way: Callable[[Workshop, list[str]], None]) -> None:
    shop = workshop(arena)
    shop.next()
    commits = [
        shop.work("task-01", "a.py", f"{EVIL}\n"),
        shop.work("task-01", "b.py", "b = 1\n"),
    ]
    way(shop, commits)
    said = arena.qrspi("task", "report", "01", "--status", "done", "--commit", "HEAD").text
    arena.qrspi("next")
    assert "evil word" in shown(shop.run) or "grafts" in said or not list(shop.run.rglob("*.diff"))


@attack(
    "an agent",
    "a commit is reported that is not the task's own",
    {
        "an orphan": ("checkout", "-q", "--orphan", "other"),
        "another branch": ("checkout", "-q", "-b", "other"),
    },
)
def test_another_commit(arena: Arena, way: tuple[str, ...]) -> None:
    shop = workshop(arena)
    shop.next()
    shop.git(*way, at=shop.tree("task-01"))
    commit = shop.work("task-01", "a.py", f"{EVIL}\n")
    said = arena.qrspi("task", "report", "01", "--status", "done", "--commit", commit)
    arena.qrspi("next")
    assert said.code == 3 or "evil word" in shown(shop.run)


@attack(
    "an agent",
    "a part of an artifact is taken out of the diff",
    {
        "no diff": "*.md -diff",
        "binary": "*.md binary",
        "a driver": "*.md diff=evil",
        "this file": "goals.md -diff",
    },
)
def test_an_artifact(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.fixed)
    (run / ".gitattributes").write_text(f"{way}\n")
    arena.qrspi("next")
    assert "Within a second" in shown(run)
