"""kill -9 and a full disk at every change that a checkpoint's commands make to the disk: nothing is
lost, nothing is there twice, and the same command finishes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import deliveries, runs
from tests.checkpoints import ask, messages, request, rows, states
from tests.cli.conftest import COMMAND
from tests.faults.strace import CHANGING, error_points, kill_points, needs_strace

pytestmark = [needs_strace, pytest.mark.slow]

KNOWN = "A link is used once and ends after an hour."
PROPOSAL = "---\ntype: rag-addition\n---\n"
KNOWLEDGE = {
    "knowledge/links.md": f"{KNOWN}\n".encode(),
    "knowledge/proposals/again.md": f"{PROPOSAL}{KNOWN}".encode(),
    "knowledge/proposals/days.md": f"{PROPOSAL}A link is used once, then another ends.".encode(),
    "knowledge/proposals/mails.md": f"{PROPOSAL}Mails leave through a queue.".encode(),
}
TEXTS = ("is used once and ends after an hour", "then another ends", "Mails leave through a queue")


class Stage:
    """One run, put back to where it was before each kill."""

    def __init__(self, folder: Path, files: dict[str, bytes]) -> None:
        folder.mkdir()
        self.root = folder / "shop"
        self._kept = folder / "kept"
        self.run = runs.on_disk(self.root, deliveries.quick() | files)
        self.database = self.run / "orchestration.db"

    def keep(self) -> None:
        shutil.copytree(self.root, self._kept)

    def fresh(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [COMMAND, *words], cwd=self.root, capture_output=True, text=True, timeout=60
        )
        assert done.returncode in (0, 3), done.stderr
        return done

    def reviews(self) -> list[str]:
        path = self.run / ".qrspi/audit.jsonl"
        lines = map(json.loads, path.read_text().splitlines() if path.exists() else ())
        return [line["notes"][0] for line in lines if line["event"] == "checkpoint-review"]


def kills(stage: Stage, *words: str, after: Callable[[], None]) -> None:
    count = 0
    for point in kill_points([str(COMMAND), *words], stage.fresh, CHANGING, stage.root):
        assert point.code in (-9, 137), point
        after()
        count += 1
    assert count > 5


def is_whole(stage: Stage) -> None:
    assert rows(stage.database, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.rule("CK-01", "ENG-04")
def test_init_makes_all_of_it_or_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "stage", {})
    stage.keep()

    def after() -> None:
        if stage.database.exists():
            assert states(stage.database) == {"task-01": "watching"}
        stage.call("checkpoint", "init")
        is_whole(stage)
        assert states(stage.database) == {"task-01": "watching"}

    kills(stage, "checkpoint", "init", after=after)


@pytest.mark.rule("CK-04", "ENG-04")
def test_a_review_is_given_once_and_told_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "stage", {})
    stage.call("checkpoint", "init")
    ask(stage.database, text=request(3))
    stage.keep()

    def after() -> None:
        told = messages(stage.database, "approval")
        given = states(stage.database)["task-01"] == "review_approved"
        assert len(told) == int(given) == len(rows(stage.database, REVIEWED))
        stage.call("checkpoint", "review", "task-01")
        is_whole(stage)
        assert states(stage.database) == {"task-01": "review_approved"}
        assert len(messages(stage.database, "approval")) == 1
        assert len(stage.reviews()) == 1

    kills(stage, "checkpoint", "review", "task-01", after=after)


REVIEWED = "SELECT id FROM orchestration_reviews"


@pytest.mark.rule("CK-08")
@pytest.mark.parametrize("words", [(), ("--merge",)])
def test_no_knowledge_is_lost_or_doubled(tmp_path: Path, words: tuple[str, ...]) -> None:
    stage = Stage(tmp_path / "stage", KNOWLEDGE)
    stage.keep()

    def texts(folder: str) -> str:
        return "".join(path.read_text() for path in (stage.run / folder).glob("*.md"))

    def after() -> None:
        there = texts("knowledge") + texts("knowledge/proposals")
        assert [text for text in TEXTS if text not in there] == []
        stage.call("checkpoint", "knowledge", *words)
        assert texts("knowledge/proposals") == ""
        assert [texts("knowledge").count(text) for text in TEXTS] == [1, 1, 1]

    kills(stage, "checkpoint", "knowledge", *words, after=after)


@pytest.mark.rule("ENG-05")
def test_a_full_disk_answers_nobody_by_half(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "stage", {})
    stage.call("checkpoint", "init")
    ask(stage.database)
    stage.keep()
    command = [str(COMMAND), "checkpoint", "review", "task-01"]
    for point in error_points(command, stage.fresh, "ENOSPC", CHANGING, stage.root):
        assert point.code in (0, 4), point
        assert "Traceback" not in point.stderr
        given = states(stage.database)["task-01"] == "review_approved"
        assert len(messages(stage.database, "approval")) == int(given)
        stage.call("checkpoint", "review", "task-01")
        assert (len(messages(stage.database, "approval")), len(stage.reviews())) == (1, 1)
