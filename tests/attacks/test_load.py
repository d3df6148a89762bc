"""To stall a command: enormous, endless, deep or crowded files."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.attacks.arena import LOOKS, Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-24", "SEC-03")
FEW = ("status", "inbox", "brief", "explain", "show", "doctor", "next --dry-run")
SECONDS = 5.0  # of this process, on a machine that is busy; a second on an idle one


def in_time(arena: Arena, commands: tuple[str, ...] = LOOKS, at: Path | None = None) -> None:
    for command in commands:
        began = time.process_time()
        arena.qrspi(*command.split(), at=at)
        took = time.process_time() - began
        assert took < SECONDS, f"{command} took {took:.1f} s"


@attack(
    "an agent",
    "a file is of 20 GB",
    {
        name: name
        for name in (
            "approvals.jsonl",
            ".qrspi/audit.jsonl",
            ".qrspi/spend.jsonl",
            "cascade-audit.log",
            "goals.md",
            "config.md",
            "request.md",
            "reviews/goals/round-01/.dispatch-manifest.json",
            f"reviews/goals/round-01/{scenes.FINDING}",
            f"reviews/goals/round-01/{scenes.SCORE}",
            "reviews/goals-loop-pause-round-01.md",
            "reviews/goals/round-01-verified.md",
        )
    },
)
def test_twenty_gigabytes(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.assembled)
    (run / way).parent.mkdir(parents=True, exist_ok=True)
    with (run / way).open("ab") as file:
        file.truncate(20 * 2**30)
    in_time(arena, (*LOOKS[1:], "next"))


@attack(
    "an agent",
    "a loop has ten thousand rounds",
    no_more="their number is all there is to it",
)
def test_ten_thousand_rounds(arena: Arena) -> None:
    run = arena.scene(scenes.fixed)
    manifest = runs.manifest(body=(run / "goals.md").read_bytes())
    for number in range(2, 10_000):
        folder = run / f"reviews/goals/round-{number:02d}"
        folder.mkdir()
        (folder / ".dispatch-manifest.json").write_bytes(manifest)
    in_time(arena, FEW)


@attack(
    "an agent",
    "a folder is crowded",
    {
        "a round": "reviews/goals/round-01",
        "the tasks": "tasks",
        "the run": ".",
        "the runs": "..",
    },
)
def test_crowded(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.assembled)
    (run / way).mkdir(exist_ok=True)
    for number in range(5_000):
        (run / way / f"x-{number}.finding-F01.md").touch()
    in_time(arena, FEW)


@attack(
    "an agent",
    "somebody holds a lock and does not let it go",
    {
        "of the run": (".qrspi/lock", ("next",)),
        "of the run, for a decision": (".qrspi/lock", ("approve", "goals", "--unreviewed")),
        "of those who send": (".qrspi/dispatch-lock", ("next", "--dispatch")),
        "of git": ("../../../.git/index.lock", ("approve", "goals", "--unreviewed")),
    },
)
def test_locked(arena: Arena, way: tuple[str, tuple[str, ...]]) -> None:
    """It is told in time; whoever only looks does not wait at all."""
    run = arena.scene(scenes.clean)
    place, words = way
    with (run / place).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        in_time(arena, FEW)
        said = arena.qrspi(*words, "--lock-timeout", "0.1")
    assert said.code in (4, 5), said.text
    assert b"status: draft" in (run / "goals.md").read_bytes()


DEEP = b"[" * 100_000
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % ((n + 1,) * 2 + (n,) * 8)
    for n in range(97, 120)
)


@attack(
    "an agent",
    "a text is made to keep its reader busy",
    {
        "deep JSON": (".dispatch-manifest.json", DEEP),
        "deep YAML": (scenes.FINDING, b"---\na: " + DEEP + b"\n---\nx\n"),
        "a YAML bomb": (scenes.FINDING, b"---\n" + BOMB + b"---\nx\n"),
        "one long line": (scenes.FINDING, runs.finding() + b"x" * 4_000_000),
        "many headings": ("../../../goals.md", runs.artifact(body="# x\n" * 100_000)),
        "many brackets": ("../../../goals.md", runs.artifact(body="[x](" * 200_000)),
        "many back-ticks": ("../../../goals.md", runs.artifact(body="`" * 1_000_000)),
    },
)
def test_busy(arena: Arena, way: tuple[str, bytes]) -> None:
    run = arena.scene(scenes.reviewed)
    name, data = way
    (run / scenes.ROUND / name).write_bytes(data)
    in_time(arena, (*LOOKS[1:], "next"))


@attack(
    "an agent",
    "a file is one that waits for ever",
    {name: name for name in ("goals.md", "config.md", "approvals.jsonl", ".qrspi/audit.jsonl")},
)
def test_waits(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.reviewed)
    (run / way).unlink(missing_ok=True)
    os.mkfifo(run / way)
    in_time(arena, (*LOOKS[1:], "next"))


def comment(number: int, lines: str) -> bytes:
    said = {"event": "comment", "id": f"c{number}", "file": "goals.md", "start": 1, "end": 1}
    return json.dumps({**said, "lines": lines, "message": "x"}).encode() + b"\n"


@attack(
    "an agent",
    "comments are made to keep whoever looks for their lines busy",
    {
        "long lines": (comment(1, "ab" * 500_000), "ba" * 500_000),
        "long lines of many": (b"".join(comment(at, "ab" * 2000) for at in range(1, 900)), "ba\n"),
        "many lines": (
            b"".join(comment(at, f"nothing like {at}") for at in range(1, 2000)),
            "".join(f"nothing at all like {at}\n" for at in range(5000)),
        ),
        "a great number": (comment(1, "x").replace(b"c1", b"c" + b"9" * 5000), "x"),
    },
)
def test_comments(arena: Arena, way: tuple[bytes, str]) -> None:
    run = arena.scene(scenes.reviewed)
    data, text = way
    (run / "feedback").mkdir()
    (run / "feedback/comments.jsonl").write_bytes(data)
    (run / "goals.md").write_bytes(runs.artifact(body=text))
    in_time(arena, ("comment list", "brief", "show", "next", "comment goals.md:L1 -m x"))
