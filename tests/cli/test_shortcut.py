"""A plain `status` is answered without click, and nobody can tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qrspi.cli import shortcut
from qrspi.cli.session import Session
from tests import runs
from tests.cli.conftest import Call

PLAIN = [
    "status",
    "status --json",
    "--json status",
    "status --all",
    "status --explain --checklist",
    "status user-auth",
    "status --all user-auth --json",
    "--root . status",
    "status --root docs/qrspi user-auth",
    "-q --no-color status --quiet",
    "status nobody",
    "status nobody --json",
    "--root nowhere status",
]


@pytest.fixture
def two_runs(project: Path) -> Path:
    runs.on_disk(project, {"config.md": runs.config(), "goals.md": runs.artifact()})
    closed = {"config.md": runs.config("quick"), "closed.md": b"---\nclosed: today\n---\n"}
    runs.on_disk(project, closed, "2026-05-18-old-idea")
    return project


@pytest.mark.parametrize("line", PLAIN)
def test_both_ways_give_the_same_bytes(
    line: str, two_runs: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = qrspi(*line.split())
    monkeypatch.setattr(shortcut, "answers", lambda session, words: False)
    assert qrspi(*line.split()) == short


@pytest.mark.parametrize(
    "line",
    [
        "",
        "next",
        "next status",
        "status one two",
        "status --watch",
        "status --help",
        "status -v",
        "status --root",
        "status --root --json",
        "status --root=.",
        "status --lock-timeout 3",
        "--all status",
        "status --",
        "status --jsno",
    ],
)
def test_everything_else_is_for_click(line: str) -> None:
    assert not shortcut.answers(Session(), line.split())


def test_a_plain_status_does_without_click(two_runs: Path) -> None:
    code = "import sys; from qrspi.cli import main\ntry: main(['status'])\n"
    code += "finally: print('click' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("False\n")
