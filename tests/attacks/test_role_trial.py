"""To read or write elsewhere, or to pass, through the folder that a trial of roles is given."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import scenes
from tests.attacks.arena import Arena
from tests.attacks.trial import attack

pytestmark = pytest.mark.rule("SEC-01", "SEC-02")
ROLE = ("--role", "reviewer-spec")
NAME = "spec-task.md"
HEAD = "<<<FINDING-BOUNDARY>>>\n---\n"


def finding(cited: str, message: str = "It is wrong.", number: int = 1) -> str:
    return (
        f"{HEAD}finding_id: R1-F{number:02d}\nseverity: high\nchange_type: correctness\n"
        f"referenced_files: [{cited}]\nartifact: task-01\nround: 1\nreviewer: spec-claude\n"
        f"actual_model: unknown\n---\n{message}\n"
    )


def sparse(file: Path) -> None:
    file.touch()
    os.truncate(file, 20 * 2**30)


@attack(
    "a clone",
    "the answers are no files, or too much to read",
    {
        "a link": lambda file: file.symlink_to(file.parents[2] / "outside" / "private.md"),
        "a pipe": os.mkfifo,
        "a folder": lambda file: file.mkdir(),
        "a device": lambda file: file.symlink_to("/dev/zero"),
        "20 GB": sparse,
    },
)
def test_no_file(arena: Arena, way: Callable[[Path], object]) -> None:
    arena.scene(scenes.project)
    answers = arena.project / "answers"
    answers.mkdir()
    way(answers / NAME)
    said = arena.process("roles", "trial", "--answers", "answers", *ROLE)
    assert said.code == 4 and f"{NAME} cannot be read: it is " in said.text


@attack(
    "an agent",
    "an answer stalls whoever scores it, is obeyed where it is shown, or finds too much",
    {
        "an escape": finding("lend/fees.py:L180", "\x1b[2J\x1b]0;x\x07\u202e\U000e0041"),
        "an escape for a place": finding('"lend/\x1b[2J.py:L180"'),
        "thousands": "".join(finding(f"lend/a.py:L{at}", number=at) for at in range(1, 1000)),
        "every line": finding("lend/fees.py:L1-L99999999999"),
        "open brackets": f"{HEAD}{'[' * 50_000}\n---\n",
        "an alias": f"{HEAD}a: &a [x]\nb: [*a, *a]\n---\nx\n",
        "one long line": "x" * 8_000_000,
        "a long place": finding(f"lend/fees.py:{'L1-' * 20_000}", "<" * 100_000),
        "a NUL": "a\0b",
    },
)
def test_an_answer(arena: Arena, way: str) -> None:
    arena.scene(scenes.project)
    (arena.project / "answers").mkdir()
    (arena.project / "answers" / NAME).write_text(way)
    said = arena.process("roles", "trial", "--answers", "answers", *ROLE)
    assert said.code == 0 and len(said.text) < 2000
    assert not set(said.text) & set("\x1b\x07\u202e\U000e0041\0")
    assert "0 of 3" in said.text


@attack(
    "a clone",
    "prompts are written where a link in their folder leads",
    {"their material": "material", "one of them": NAME, "a part of it": "material/spec-task"},
    no_more="nothing else is written there",
)
def test_a_link(arena: Arena, way: str) -> None:
    arena.scene(scenes.project)
    link = arena.project / "prompts" / way
    link.parent.mkdir(parents=True)
    link.symlink_to(arena.outside / "private.md" if way == NAME else arena.outside)
    said = arena.process("roles", "trial", "--prompts", "prompts", *ROLE)
    assert said.code == (0 if way == NAME else 3), said.text
