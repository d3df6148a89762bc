"""Answers from a folder, and the host, to whom nothing is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.core.agents.transports import HOST, SCRIPTED
from qrspi.world.agents import scripted_replies
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.agents.transports import send

FILES = (
    "goals/round-02/quality-claude.md",
    "goals/quality-claude.md",
    "quality-claude.md",
    "goals/author.md",
    "verify.md",
    "scope-claude.json",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"from {name}")
    return tmp_path


def request(name: str, step: str = "goals", round: int = 1) -> Request:
    return Request(name, step, round, b"", SCRIPTED, "m-1", "/")


def sent(folder: Path, asked: Request) -> Answer:
    with DispatchContext({}, scripts=str(folder)) as wire:
        return send(asked, wire)


@pytest.mark.parametrize(
    ("asked", "file", "kind"),
    [
        (request("quality-claude", round=2), "goals/round-02/quality-claude.md", "text"),
        (request("quality-claude", round=1), "goals/quality-claude.md", "text"),
        (request("quality-claude", step="design"), "quality-claude.md", "text"),
        (request("author", round=0), "goals/author.md", "text"),
        (request("verify-quality-claude.finding-F01"), "verify.md", "text"),
        (request("scope-claude"), "scope-claude.json", "claude-json"),
    ],
)
def test_the_nearest_file_answers(folder: Path, asked: Request, file: str, kind: str) -> None:
    assert sent(folder, asked) == Answer(f"from {file}".encode())
    assert scripted_replies.kind(asked, str(folder)) == kind


def test_a_missing_answer_is_named_with_the_file_that_would_give_it(folder: Path) -> None:
    done = sent(folder, request("fixer", round=3))
    assert done.problem
    assert (done.problem.code, done.problem.message) == (
        "transport-no-script",
        f"{folder} has no reply for fixer: expected goals/round-03/fixer.md",
    )


def test_an_answer_that_is_no_file_is_not_passed_over(folder: Path) -> None:
    (folder / "fixer.md").mkdir()
    done = sent(folder, request("fixer"))
    assert done.problem
    assert done.problem.message == f"{folder}/fixer.md cannot be read: it is a directory"


@pytest.mark.rule("TRN-04")
def test_nothing_is_sent_to_a_host(tmp_path: Path) -> None:
    with DispatchContext({}) as wire:
        done = send(request("quality-claude")._replace(means=HOST), wire)
    assert done.problem
    assert done.problem.message == (
        "quality-claude is for the host to send: config.md has neither a command nor a provider "
        "for its vendor"
    )
