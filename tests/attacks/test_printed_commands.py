"""To have a command run that the engine prints, by whoever pastes it or hands it to a shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import printed_commands, runs, scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-15", "LIV-02")
SAYING = ("status", "status --json", "inbox", "inbox --json", "next", "next --json", "brief")
HOSTILE = {
    "a semicolon": "x;touch $RAN;",
    "a substitution": "x$(touch $RAN)",
    "back-ticks": "x`touch $RAN`",
    "a pipe": "x|touch $RAN|cat",
    "a new line": "x\ntouch $RAN\n",
    "a quote": "x';touch $RAN;'",
    "an option": "--help;touch $RAN;",
    "a variable": "x${IFS};touch${IFS}$RAN",
}


def run_all_that_is_printed(arena: Arena, said: str) -> None:
    """What the shell makes of them is looked at, not what the commands do."""
    for command in printed_commands.found_in(said):
        if command not in arena.tried:
            arena.tried.add(command)
            arena.shell(command)


@attack("a clone", "the name of a run is a command", HOSTILE)
def test_a_runs_name(arena: Arena, way: str) -> None:
    run = arena.clone()
    name = way.replace("$RAN", "canary").replace("/", "")
    run.rename(run.with_name(f"2026-01-01-{name}"))
    for command in SAYING:
        run_all_that_is_printed(arena, arena.qrspi(*command.split()).text)
    arena.shell(arena.qrspi("inbox", "--commands").out)
    assert not list(arena.top.rglob("canary"))


@attack("a clone", "the name of the project's folder is a command", HOSTILE)
def test_a_folders_name(arena: Arena, way: str) -> None:
    """What is printed names folders where another one is meant."""
    run = arena.clone()
    arena.project = arena.project.rename(arena.top / way.replace("$RAN", "canary"))
    place = arena.project / run.relative_to(arena.top / "project")
    for command in SAYING:
        run_all_that_is_printed(arena, arena.qrspi(*command.split(), at=place).text)
    for command in (*SAYING, "doctor", "inbox --commands"):
        words = ("--root", arena.project, *command.split())
        run_all_that_is_printed(arena, arena.qrspi(*words, at=arena.outside).text)
    for command in ("config set base_branch x y", "status nothing", "show goals --round 7"):
        run_all_that_is_printed(arena, arena.qrspi(*command.split(), at=place).text)
    assert not [path for path in arena.top.rglob("canary") if path != arena.project]


def places(run: Path, text: str) -> Iterator[None]:
    """Where an agent can put words that a command may be made from."""
    (run / "reviews/goals/round-01" / f"{text}.finding-F01.md").write_bytes(runs.finding())
    (run / "reviews/goals/round-01/quality-claude.finding-F01.md").write_bytes(
        runs.finding(cites=f"{text}:L1", message=text)
    )
    yield
    (run / f"{text}.md").write_text(text)
    (run / "config.md").write_bytes(runs.config(base_branch=f"'{text}'", code_path=f"'{text}'"))
    yield
    (run / "reviews" / text).mkdir()
    (run / "reviews/goals/round-01-dispositions.md").write_text(text)
    yield


@attack(
    "an agent",
    "words of a file become a part of a printed command",
    {name: text for name, text in HOSTILE.items() if name not in ("a new line", "a quote")},
)
def test_words_of_a_file(arena: Arena, way: str) -> None:
    run = arena.scene(scenes.reviewed)
    for _ in places(run, way.replace("$RAN", "canary")):
        for command in (*SAYING, "doctor", "next --dispatch"):
            run_all_that_is_printed(arena, arena.qrspi(*command.split()).text)
        arena.shell(arena.qrspi("inbox", "--commands").out)
    assert not list(arena.top.rglob("canary"))
