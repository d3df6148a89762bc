"""To have merged what is in no diff that a reviewer was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs
from tests.attacks.arena import Arena, workshop, workshop_at
from tests.attacks.test_hidden_code import EVIL, shown
from tests.attacks.trial import attack
from tests.deliveries import config, full, quick, task
from tests.handlers.workshop import Workshop

pytestmark = pytest.mark.rule("SEC-17")
STAGE = "qrspi/user-auth/stage-after-W1"
GOOD = "check = 1\n"
Change = Callable[[Path], object]
LINES = "first = 1\nsecond = 2\nfirst = 3\n"


def nothing(tree: Path) -> None:
    """The options alone do it."""


def moved(old: str, new: str) -> Change:
    def change(tree: Path) -> None:
        (tree / new).parent.mkdir(exist_ok=True)
        (tree / old).rename(tree / new)

    return change


def linked(tree: Path) -> None:
    (tree / "b.py").unlink()
    (tree / "b.py").symlink_to("a.py")


def in_other_order(tree: Path) -> None:
    lines = (tree / "b.py").read_text().splitlines(True)
    (tree / "b.py").write_text("".join(reversed(lines)))


def hand_made(shop: Workshop, message: str, change: Change, *options: str) -> None:
    """The branch of the stage, with a merge of both tasks that says something of its own."""
    tree = shop.root.parent / "aside"
    one, two = "qrspi/user-auth/task-01", "qrspi/user-auth/task-02"
    shop.git("worktree", "add", "-q", "-b", STAGE, str(tree), one)
    shop.git("merge", "-q", "--no-ff", "--no-commit", *options, two, at=tree)
    change(tree)
    shop.git("add", "--all", at=tree)
    shop.git("commit", "-q", "-m", message, at=tree)
    shop.git("worktree", "remove", "--force", str(tree))


@attack(
    "an agent",
    "a merge that others build on is made by hand, and says more or less than its parts",
    {
        "more": ("Merge both", lambda tree: (tree / "evil.py").write_text(f"{EVIL}\n")),
        "more, as the engine would": (
            "Merge task-01, task-02 into stage-after-W1",
            lambda tree: (tree / "evil.py").write_text(f"{EVIL}\n"),
        ),
        "less": ("Merge both", nothing, "--strategy=ours"),
        "less, as the engine would": (
            "Merge task-01, task-02 into stage-after-W1",
            nothing,
            "--strategy=ours",
        ),
        "a program": ("Merge both", lambda tree: (tree / "b.py").chmod(0o755)),
        "a link": ("Merge both", linked),
        "another name": ("Merge both", moved("b.py", "conftest.py")),
        "another folder": ("Merge both", moved("b.py", ".github/b.py")),
        "another order": ("Merge both", in_other_order),
        "a line twice": (
            "Merge both",
            lambda tree: (tree / "b.py").write_text(f"first = 3\n{LINES}"),
        ),
        "an empty line": ("Merge both", lambda tree: (tree / "b.py").write_text(f"{LINES}\n")),
        "line ends": (
            "Merge both",
            lambda tree: (tree / "b.py").write_bytes(LINES.replace("\n", "\r\n").encode()),
        ),
        "an empty file": ("Merge both", lambda tree: (tree / "conftest.py").touch()),
        "no text": ("Merge both", lambda tree: (tree / "x.bin").write_bytes(b"\0\xff" * 99)),
    },
)
def test_a_stage(arena: Arena, way: tuple[str, Change]) -> None:
    shop = Workshop.brought(arena.project, before_the_stage)
    hand_made(shop, *way)
    said = arena.qrspi("next").flat
    if shop.tree("task-03").exists():
        made = shop.git("ls-files", "-s", "--", ":!docs", at=shop.tree("task-03"))
        assert made == merged(shop)
    else:
        assert f"branch {STAGE} is there and has commits that this run did not make" in said


def before_the_stage(root: Path) -> Workshop:
    plain = config("full", "gates: {test_command: none}\n")
    shop = Workshop(root, {**full(), "config.md": plain})
    shop.next()
    shop.finish("task-01", "a.py", "a = 1\n")
    shop.work("task-02", "b.py", LINES)
    shop.report("task-02")
    shop.next()
    shop.review("task-02", 1)
    return shop


def merged(shop: Workshop) -> str:
    """What both tasks are, when nobody adds to it."""
    tree = shop.root.parent / "plain"
    shop.git("worktree", "add", "-q", "--detach", str(tree), "qrspi/user-auth/task-01")
    shop.git("merge", "-q", "--no-edit", "qrspi/user-auth/task-02", at=tree)
    return shop.git("ls-files", "-s", "--", ":!docs", at=tree)


def with_one_of_two_done(root: Path) -> Workshop:
    shop = workshop_at(root, **{"tasks/task-02.md": task(2, files="b.py")})
    shop.next()
    shop.finish("task-01", "a.py", GOOD)
    return shop


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


def a_link(shop: Workshop) -> None:
    """A file that turns into a link is two parts of a diff, under one name."""
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "qrspi/user-auth/task-01", at=tree)
    (tree / "a.py").unlink()
    (tree / "a.py").symlink_to("b.py")
    shop.git("commit", "-q", "-a", "-m", "x", at=tree)


def with_other_line_ends(shop: Workshop) -> None:
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "qrspi/user-auth/task-01", at=tree)
    (tree / "a.py").write_bytes(GOOD.replace("\n", "\r\n").encode())
    shop.git("commit", "-q", "-a", "-m", "x", at=tree)


def elsewhere(shop: Workshop) -> None:
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "qrspi/user-auth/task-01", at=tree)
    shop.git("mv", "a.py", "conftest.py", at=tree)
    shop.git("commit", "-q", "-m", "x", at=tree)


def an_octopus(shop: Workshop) -> None:
    tree = shop.tree("task-02")
    shop.git("checkout", "-q", "-b", "third", at=tree)
    (tree / "third.txt").write_text("x\n")
    shop.git("add", "third.txt", at=tree)
    shop.git("commit", "-q", "-m", "third", at=tree)
    shop.git("checkout", "-q", "qrspi/user-auth/task-02", at=tree)
    kept = shop.git("rev-parse", "HEAD^{tree}", at=tree)
    parents = [
        word for name in ("HEAD", "third", "qrspi/user-auth/task-01") for word in ("-p", name)
    ]
    made = shop.git("commit-tree", kept, *parents, "-m", "x", at=tree)
    shop.git("reset", "-q", "--hard", made, at=tree)


def called_binary(shop: Workshop) -> None:
    (shop.root / ".git/info").mkdir(exist_ok=True)
    (shop.root / ".git/info/attributes").write_text("*.py -diff\n")
    of_another_task(shop)


@attack(
    "an agent",
    "a merge in its own branch takes the reviewed work of others out again",
    {
        "of another task": of_another_task,
        "of the feature branch": of_the_feature,
        "in part": in_part,
        "by way of a third": by_way_of_a_third,
        "for a link": a_link,
        "its line ends": with_other_line_ends,
        "to another name": elsewhere,
        "in an octopus": an_octopus,
        "called binary": called_binary,
    },
)
def test_taken_out(arena: Arena, way: Callable[[Workshop], None]) -> None:
    shop = Workshop.brought(arena.project, with_one_of_two_done)
    way(shop)
    shop.finish("task-02", "b.py", "b = 1\n")
    for words in (("next",), ("resolve", "continue")):
        arena.qrspi(*words)
    said = arena.qrspi("next")
    assert shop.git("show", "main:a.py") == GOOD.strip()
    assert (said.code, "that its reviewers were not shown" in said.flat) == (3, True), said.text
    assert not shop.git("status", "--porcelain", "a.py", "b.py")
    redone(arena, shop)


CHECK = "    must_be_admin(user)\n"
OLD = {"old.py": f"def old(user):\n{CHECK}", "a.py": "def wipe(user):\n    drop()\n"}
MOVED = {"old.py": "def old(user):\n", "a.py": f"def wipe(user):\n{CHECK}    drop()\n"}


def put(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).write_text(text)


@attack(
    "an agent",
    "its own diff has the very lines, elsewhere, that it takes out of a file",
    no_more="the ways to take them out are tried above",
)
def test_lines_of_other_files(arena: Arena) -> None:
    """One task moves a check to where it is needed. The other leaves that out, and moves the same
    line to a note."""
    plain = config("quick", "gates: {test_command: none}\n")
    files = {**quick(), "tasks/task-02.md": task(2, files="b.py"), "config.md": plain}
    shop = Workshop(arena.project, files, OLD)
    shop.next()
    put(shop.tree("task-01"), MOVED)
    shop.finish("task-01", "more.py", "more = 1\n")
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "--no-commit", "--no-ff", "qrspi/user-auth/task-01", at=tree)
    put(tree, {"a.py": OLD["a.py"]})
    shop.finish("task-02", "notes.txt", f"To be added later:\n{CHECK}")
    assert "a/a.py" not in (shop.run / "reviews/tasks/task-02/round-01.diff").read_text()
    for words in (("next",), ("resolve", "continue")):
        arena.qrspi(*words)
    said = arena.qrspi("next")
    assert (said.code, "that its reviewers were not shown" in said.flat) == (3, True), said.text
    assert CHECK in (shop.root / "a.py").read_text()


TWICE = "drop()\nclear()\n"
ONE = f"one()\n{CHECK}"


def with_both_merged(root: Path) -> Workshop:
    """Both put the same check into one file, each where it is needed."""
    plain = config("quick", "gates: {test_command: none}\n")
    files = {**quick(), "tasks/task-02.md": task(2, files="a.py"), "config.md": plain}
    shop = Workshop(root, files, {"a.py": TWICE})
    shop.next()
    shop.finish("task-01", "a.py", f"{ONE}{TWICE}")
    shop.finish("task-02", "a.py", f"{TWICE}{CHECK}")
    shop.resolve("continue")
    shop.next()
    assert shop.git("show", "main:a.py") == f"{ONE}{TWICE}{CHECK}".strip()
    return shop


@attack(
    "an agent",
    "a task that is merged already is done again, and takes the same line of another one out",
    {
        "and keeps its own": f"{ONE}{TWICE}",
        "and its own": TWICE,
        "and moves its own": f"{TWICE}{ONE}",
    },
    no_more="its own line stays, goes, or moves",
)
def test_taken_out_when_done_again(arena: Arena, way: str) -> None:
    shop = Workshop.brought(arena.project, with_both_merged)
    tree, tip = shop.tree("task-01"), shop.git("rev-parse", "qrspi/user-auth/task-01")
    shop.git("merge", "-q", "--no-commit", "main", at=tree)
    put(tree, {"more.py": "more = 1\n"})
    shop.deliver("task-01", "a.py", way)
    assert arena.qrspi("rewind", "--to", "implement", "--yes").code == 0
    shop.next()
    shop.review("task-01", 2)
    for words in (("next",), ("resolve", "continue")):
        arena.qrspi(*words)
    said = arena.qrspi("next")
    assert (said.code, "that its reviewers were not shown" in said.flat) == (3, True), said.text
    assert shop.git("show", "main:a.py") == f"{ONE}{TWICE}{CHECK}".strip()
    assert f"make the work again on top of {tip[:12]}" in said.flat
    shop.git("reset", "-q", "--hard", tip, at=tree)
    shop.deliver("task-01", "a.py", f"two()\n{CHECK}{TWICE}")
    assert arena.qrspi("rewind", "--to", "implement", "--yes").code == 0
    shop.next()
    shop.review("task-01", 3)
    for words in (("next",), ("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    assert shop.git("show", "main:a.py") == f"two()\n{CHECK}{TWICE}{CHECK}".strip()


def all_of_it(shop: Workshop) -> None:
    tree = shop.tree("task-01")
    shop.git("merge", "-q", "--strategy=ours", "-m", "x", "qrspi/user-auth/task-02", at=tree)


def as_the_engine_would(shop: Workshop) -> None:
    """With the words by which the engine knows its own merge."""
    tree, tip = shop.tree("task-01"), shop.git("rev-parse", "qrspi/user-auth/task-02")
    message = f"x\n\nQRSPI-Merge: {runs.RUN}/task-02 {tip}"
    shop.git("merge", "-q", "--strategy=ours", "-m", message, tip, at=tree)


def its_first_part(shop: Workshop) -> None:
    all_of_it(shop)
    shop.work("task-02", "more.py", "more = 1\n")


def taken_back(shop: Workshop) -> None:
    """The merge is whole; an ordinary commit after it undoes it."""
    tree = shop.tree("task-01")
    shop.git("merge", "-q", "--no-edit", "--no-ff", "qrspi/user-auth/task-02", at=tree)
    shop.git("revert", "--no-edit", "-m", "1", "HEAD", at=tree)


@attack(
    "an agent",
    "a merge in its own branch has the work of another taken for merged, without what it changed",
    {
        "all": all_of_it,
        "as the engine would": as_the_engine_would,
        "in part": its_first_part,
        "put back afterwards": taken_back,
    },
)
def test_taken_for_merged(arena: Arena, way: Callable[[Workshop], None]) -> None:
    shop = workshop(arena, **{"tasks/task-02.md": task(2, files="b.py")})
    shop.next()
    shop.work("task-02", "b.py", GOOD)
    way(shop)
    shop.finish("task-01", "a.py", "a = 1\n")
    shop.report("task-02")
    shop.next()
    shop.review("task-02", 1)
    for words in (("next",), ("resolve", "continue")):
        arena.qrspi(*words)
    said = arena.qrspi("next")
    assert (said.code, "whose branch left out what that changed in b.py" in said.flat) == (3, True)
    command = said.flat.split("with `")[1].split("`")[0]
    shop.git(*command.split()[1:])
    shop.git("commit", "-q", "-m", "put back")
    assert arena.qrspi("next").code == 0
    assert shop.git("show", "main:b.py") == GOOD.strip()


@attack(
    "an agent",
    "a merge in its own branch takes out a submodule that is said not to be looked at",
    {
        "by its own settings": (".gitmodules",),
        "by those of the clone": (".git/config",),
        "by those of all submodules": (),
    },
    no_more="git is told so in these three places",
)
def test_a_submodule(arena: Arena, way: tuple[str, ...]) -> None:
    shop = workshop(arena, **{"tasks/task-02.md": task(2, files="b.py")})
    shop.next()
    for name in {*way, ".gitmodules"}:
        with (shop.root / name).open("a") as file:
            file.write('[submodule "s"]\n\tpath = s\n\turl = ./s\n\tignore = all\n')
    old, new = "1" * 40, "2" * 40
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{old},s")
    shop.git("add", ".gitmodules")
    shop.git("commit", "-q", "-m", "a submodule")
    tree = shop.tree("task-02")
    shop.git("merge", "-q", "-m", "x", "main", at=tree)
    shop.git("update-index", "--cacheinfo", f"160000,{new},s")
    shop.git("commit", "-q", "-m", "a newer one")
    shop.git("merge", "-q", "--strategy=ours", "-m", "x", "main", at=tree)
    if not way:
        shop.git("config", "diff.ignoreSubmodules", "all")
    shop.finish("task-01", "a.py", GOOD)
    shop.finish("task-02", "b.py", "b = 1\n")
    for words in (("next",), ("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    assert new in shop.git("ls-tree", "main", "s")


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


def a_hook_in_a_binary(shop: Workshop, program: Path) -> None:
    """Two diffs that only say that a file differs are the same."""
    a_hook(shop, program)
    (shop.root / ".git/info").mkdir(exist_ok=True)
    (shop.root / ".git/info/attributes").write_text("*.py -diff\n")


def a_filter(shop: Workshop, program: Path) -> None:
    """On the way into a commit; that of a whole file, without its name."""
    program.write_text(f'#!/bin/sh\ncat; echo "{EVIL}"\n')
    shop.git("config", "filter.evil.clean", str(program))
    (shop.root / ".git/info/attributes").write_text("*.py filter=evil\n")


def a_resolution(shop: Workshop, program: Path) -> None:
    """git remembers how a conflict was resolved, and takes it from there."""
    shop.git("config", "rerere.enabled", "true")
    shop.git("config", "rerere.autoUpdate", "true")
    a_driver(shop, program)


@attack(
    "an agent",
    "the engine's own merge is made to say more than its parts",
    {
        "a driver": a_driver,
        "a hook": a_hook,
        "a hook, in what is called binary": a_hook_in_a_binary,
        "a filter": a_filter,
        "a remembered resolution": a_resolution,
    },
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


@attack(
    "an agent",
    "a merge writes into the runs, where only the engine and people write",
    {
        "a record": "approvals.jsonl",
        "settings": "config.md",
        "a text": "plan.md",
        "a review": "reviews/goals/round-01/quality-claude.clean.md",
        "a role": ".qrspi/agents/reviewer-quality.md",
        "another run": "../2026-01-01-other/goals.md",
    },
)
def test_into_the_runs(arena: Arena, way: str) -> None:
    shop = workshop(arena)
    shop.next()
    file = shop.tree("task-01") / shop.run.relative_to(shop.root) / way
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{file.read_text() if file.exists() else ''}evil word\n")
    shop.git("add", "--force", str(file), at=shop.tree("task-01"))
    shop.finish("task-01", "a.py", "a = 1\n")
    before = {path: path.read_bytes() for path in shop.run.parent.rglob("*") if path.is_file()}
    for words in (("next",), ("resolve", "continue"), ("next",)):
        arena.qrspi(*words)
    new = [path for path in shop.run.parent.rglob("*") if path.is_file()]
    said = [path for path in new if b"evil word" in path.read_bytes() and path not in before]
    assert not said and b"evil word" not in (shop.run / "config.md").read_bytes()
    committed = shop.git("ls-tree", "-r", "--name-only", "main")
    assert "2026-01-01-other" not in committed and ".qrspi/agents" not in committed
    for name in ("approvals.jsonl", "config.md", "plan.md"):
        assert "evil word" not in shop.git("show", f"main:{shop.run.relative_to(shop.root)}/{name}")
