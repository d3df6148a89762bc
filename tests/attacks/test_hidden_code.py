"""To have code merged that no reviewer was shown."""

from __future__ import annotations

import zlib
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


Undo = Callable[[], object]
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
    """In sight of somebody who reads a line as far as a screen or two."""
    diff = shown(reviewed(arena, nothing, way).run)
    assert any("evil word" in line[:2100] for line in diff.split("\n"))


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@attack(
    "an agent",
    "code is called binary, and nobody is told of it",
    {
        "noughts": "\0" * 500 + f"\n{EVIL}\n",
        "two bytes a letter": as_text(f"{EVIL}\n".encode("utf-16")),
        "a picture's head": as_text(b"\x89PNG\r\n\x1a\n" + b"\0" * 99) + f"\n{EVIL}\n",
        "packed": as_text(zlib.compress(f"{EVIL}\n".encode() * 9) + b"\0" * 99),
    },
)
def test_binary(arena: Arena, way: str) -> None:
    shop = reviewed(arena, nothing, way)
    size = len(way.encode("utf-8", "surrogateescape"))
    assert f"binary, not shown: {size} bytes" in shown(shop.run)
    shop.review("task-01", 1)
    shop.next()
    assert "No reviewer could read 'a.py'" in arena.qrspi("next").flat


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


def cut_off(shop: Workshop, commits: list[str]) -> Undo:
    """As in a shallow clone: git knows of nothing before the bad commit."""
    moved_base(shop, commits)
    (shop.root / ".git/shallow").write_text(f"{commits[0]}\n")
    return (shop.root / ".git/shallow").unlink


def another_feature(shop: Workshop, commits: list[str]) -> Undo:
    """The work is compared with a branch that has the bad commit already."""
    moved_base(shop, commits)
    shop.git("branch", "evil", commits[0])
    config, before = shop.run / "config.md", shop.read("config.md")
    config.write_text(before.replace("feature_branch: main", "feature_branch: evil"))
    return lambda: config.write_text(before)


def another_of_its_name(ref: str) -> Callable[[Workshop, list[str]], Undo]:
    """What git takes a short name for, where several things have it."""

    def make(shop: Workshop, commits: list[str]) -> Undo:
        moved_base(shop, commits)
        shop.git("update-ref", ref, commits[0])
        return lambda: shop.git("update-ref", "-d", ref)

    return make


@attack(
    "an agent",
    "what a diff begins with is moved for the moment in which it is made",
    {
        "another feature branch": another_feature,
        "a history cut off": cut_off,
        "a tag of its name": another_of_its_name("refs/tags/main"),
        "a ref of its name": another_of_its_name("refs/main"),
    },
)
def test_a_moment(arena: Arena, way: Callable[[Workshop, list[str]], Undo]) -> None:
    shop = workshop(arena)
    shop.next()
    commits = [
        shop.work("task-01", "b.py", f"{EVIL}\n"),
        shop.work("task-01", "a.py", "a = 1\n"),
    ]
    undo = way(shop, commits)
    arena.qrspi("task", "report", "01", "--status", "done", "--commit", commits[1])
    arena.qrspi("next")
    undo()
    if (shop.run / "reviews/tasks/task-01/round-01").exists():
        shop.review("task-01", 1)
    arena.qrspi("next")
    arena.qrspi("resolve", "continue")
    said = arena.qrspi("next").flat
    merged = shop.git("grep", "-h", "", "main", "--", "*.py")
    assert "evil word" not in merged or "evil word" in shown(shop.run)
    if "nobody saw what lies between" in said:
        arena.qrspi("round", "prepare", "task-01", "--anyway")
        assert "evil word" in shown(shop.run)


def exchanged(what: str) -> Callable[[Workshop, str], None]:
    """Under the name of what was reviewed git finds something else."""

    def exchange(shop: Workshop, commit: str) -> None:
        tree = shop.tree("task-01")
        shop.git("checkout", "-q", "--detach", f"{commit}^", at=tree)
        (tree / "a.py").write_text(f"{EVIL}\n")
        shop.git("commit", "-q", "-a", "-m", "evil", at=tree)
        evil = shop.git("rev-parse", f"HEAD{what}", at=tree)
        shop.git("checkout", "-q", "-", at=tree)
        shop.git("replace", shop.git("rev-parse", f"{commit}{what}"), evil)

    return exchange


def moved_on(shop: Workshop, commit: str) -> None:
    shop.work("task-01", "a.py", f"{EVIL}\n")


@attack(
    "an agent",
    "something else is merged under the name of what was reviewed",
    {
        "the commit": exchanged(""),
        "its tree": exchanged("^{tree}"),
        "its file": exchanged(":a.py"),
        "its branch": moved_on,
    },
)
def test_exchanged(arena: Arena, way: Callable[[Workshop, str], None]) -> None:
    shop = workshop(arena)
    shop.next()
    way(shop, shop.finish("task-01", "a.py", "a = 1\n"))
    for words in (("next",), ("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    assert shop.git("--no-replace-objects", "show", "main:a.py") == "a = 1"
    assert (shop.root / "a.py").read_text() == "a = 1\n"


@attack(
    "an agent",
    "a commit is reported that is not the task's own",
    {
        "an orphan": ("checkout", "-q", "--orphan", "other"),
        "another branch": ("checkout", "-q", "-b", "other"),
        "no branch": ("checkout", "-q", "--detach"),
        "what the feature branch is": ("symbolic-ref", "HEAD", "refs/heads/main"),
    },
)
def test_another_commit(arena: Arena, way: tuple[str, ...]) -> None:
    shop = workshop(arena)
    shop.next()
    shop.git(*way, at=shop.tree("task-01"))
    commit = shop.work("task-01", "a.py", f"{EVIL}\n")
    said = arena.qrspi("task", "report", "01", "--status", "done", "--commit", commit)
    then = arena.qrspi("next")
    assert 3 in (said.code, then.code) or "evil word" in shown(shop.run)


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
