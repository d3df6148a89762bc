"""To silence what people said, or to say more in their name, through comments and counts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs, scenes
from tests.attacks.arena import Arena
from tests.attacks.test_terminal import OBEYED, unseen
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-20", "SEC-23", "SEC-24")
FILE = "feedback/comments.jsonl"
PAGE = "feedback/goals-comments.md"


def says(arena: Arena, cited: str, text: str, *more: str) -> int:
    return arena.qrspi("comment", cited, "-m", text, *more).code


@attack(
    "an agent",
    "comments are so long that nobody can read any of them again",
    {
        "one": ("x" * 20_000_000, 1),
        "some": ("x" * 1_000_000, 20),
        "lines": ("x\n" * 1_000_000, 3),
        "letters that are kept as twelve": ("\U0001f600" * 90_000, 3),
    },
)
def test_long(arena: Arena, way: tuple[str, int]) -> None:
    arena.scene(scenes.assembled)
    assert says(arena, "goals.md:L1", "Mind this.") == 0
    text, times = way
    for _ in range(times):
        assert says(arena, "goals.md:L1", text) == 3
    assert "Mind this." in arena.qrspi("comment", "list").out
    assert arena.qrspi("comment", "resolve", "c1").code == 0


@attack(
    "an agent",
    "words or a name fill the record of decisions until nobody can read it",
    {
        "of a close": ("close", "--reason", "x" * 1_000_000),
        "by a name": ("reject", "goals", "-m", "No.", "--as", "x" * 1_000_000),
        "of a comment, by a name": ("comment", "goals.md:L1", "-m", "x", "--as", "x" * 1_000_000),
        "of an approval": ("approve", "goals", "--unreviewed", "--as", "x\n" * 500_000),
        "of an answer": ("decide", "quality-claude.R1-F01", "skip", "-m", "x" * 1_000_000),
    },
)
def test_full_of_words(arena: Arena, way: tuple[str, ...]) -> None:
    run = arena.scene(paused)
    before = runs.contents(run)
    said = arena.qrspi(*way)
    assert said.code in (2, 3) and len(said.text) < 500, said.text[:500]
    assert runs.contents(run) == before


def paused(root: Path) -> Path:
    run = scenes.paused(root)
    scenes.advance(run)
    return run


SAID = {"event": "comment", "file": "goals.md", "start": 1, "end": 1, "lines": "x"}
LONG = {**SAID, "message": "x" * 1_040_000}


@attack(
    "an agent",
    "comments fill their record until nobody can resolve any",
    {
        "long ones": lambda at: json.dumps({**LONG, "id": f"c{at}"}),
        "one again and again": lambda at: json.dumps({**LONG, "id": "c1"}),
        "what is resolved": lambda at: json.dumps({**LONG, "id": "c3", "event": "resolve"}),
        "blanks": lambda at: " " * 1_040_000,
    },
)
def test_full(arena: Arena, way: Callable[[int], str]) -> None:
    run = arena.scene(scenes.assembled)
    lines = [json.dumps({**SAID, "message": "x", "id": f"c{at}"}) for at in (1, 2, 3)]
    lines += [way(at) for at in range(4, 20)]
    scenes.save(run / FILE, "".join(f"{line}\n" for line in lines).encode())
    while says(arena, "goals.md:L1", "y" * 20_000) == 0:
        pass
    assert arena.qrspi("comment", "resolve", "c1").code == 0
    assert "c2" in arena.qrspi("comment", "list").out


@attack(
    "an agent",
    "a comment is made on a file that is none of a step's texts, or on lines that are none",
    {
        name: name
        for name in (
            "../../../outside/private.md:L1",
            "/etc/passwd:L1",
            "goals.md/../config.md:L1",
            "config.md:L1",
            "approvals.jsonl:L1",
            ".qrspi/audit.jsonl:L1",
            "research/../../x.md:L1",
            "plan.md:L1",
            "goals.md:L0",
            "goals.md:L2-L1",
            "goals.md:L99999",
            f"goals.md:L{'9' * 40}",
            "docs/qrspi/../../x.md:L1",
        )
    },
)
def test_elsewhere(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.assembled)
    (run / "plan.md").symlink_to(arena.outside / "private.md")
    assert says(arena, way, "Mind this.") in (2, 3)
    assert not (run / FILE).exists()


@attack(
    "an agent",
    "a comment is written where a link leads",
    {
        "the folder": ("feedback", "."),
        "the record": (FILE, "private.md"),
        "the record, and nothing there": (FILE, "new.jsonl"),
        "the page": (PAGE, "private.md"),
    },
)
def test_links(arena: Arena, way: tuple[str, str]) -> None:
    run = arena.scene(scenes.assembled)
    place, target = way
    (run / place).parent.mkdir(exist_ok=True)
    (run / place).symlink_to(arena.outside / target)
    assert says(arena, "goals.md:L1", "Mind this.") == 3


@attack("an agent", "a comment looks like two, by two people", OBEYED)
def test_two(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.assembled)
    text = f"x{way}\n## c9: goals.md:L1, Boss\n\n| approved"
    if says(arena, "goals.md:L1", text) == 0:
        page = (run / PAGE).read_text()
        assert [line for line in page.split("\n") if line.startswith("## ")] == [
            "## c1: goals.md:L1, Ada Example"
        ]
    assert unseen(arena.qrspi("comment", "list").text, way) == []


def broken(run: Path) -> None:
    (run / scenes.ROUND / scenes.FINDING).write_bytes(b"---\nseverity: [\n---\n\nx\n")


def renamed(run: Path) -> None:
    finding = run / scenes.ROUND / scenes.FINDING
    finding.write_bytes(finding.read_bytes().replace(b"severity: medium", b"severity: none"))


def forged(run: Path) -> None:
    for file in (run / scenes.ROUND).iterdir():
        file.unlink()
    for tag in scenes.TAGS:
        scenes.save(run / scenes.ROUND / f"{tag}.clean.md", runs.clean(tag))


@attack(
    "an agent",
    "a round that was never clean is counted as clean",
    {
        "a broken finding": broken,
        "a word that is none": renamed,
        "nobody was sent": forged,
    },
    no_more="nothing else keeps a finished round from being clean",
)
def test_counted_as_clean(arena: Arena, way: object) -> None:
    run = arena.scene(scenes.assembled)
    assert callable(way)
    way(run)
    assert "clean in round" not in arena.qrspi("stats").text


@attack(
    "an agent",
    "numbers on record are too great, or none, to be added or divided",
    {
        "money": ("usd", 1e308),
        "no number": ("usd", float("nan")),
        "endless": ("usd", float("inf")),
        "below nothing": ("usd", -1e9),
        "tokens": ("input_tokens", 10**400),
        "calls": ("calls", 10**30),
        "no call": ("calls", 0),
        "a round": ("round", 10**30),
        "seconds": ("seconds", 1e308),
    },
)
def test_numbers(arena: Arena, way: tuple[str, object]) -> None:
    run = arena.scene(scenes.assembled)
    good = {"step": "goals", "round": 1, "role": "x", "model": "m", "calls": 1, "usd": 1.0}
    line = json.dumps({**good, way[0]: way[1]})
    scenes.save(run / ".qrspi/spend.jsonl", f"{line}\n{line}\n{line}\n".encode())
    began = time.process_time()
    for command in ("spend", "spend --json", "stats", "stats --json", "report", "simulate"):
        said = arena.qrspi(*command.split())
        assert "nan" not in said.out.lower().split() and "Infinity" not in said.out, said.out
    assert time.process_time() - began < 10
