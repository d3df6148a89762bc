"""The plain forms of a day's commands are answered without click, and nobody can tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qrspi.cli import plain_forms
from qrspi.cli.session import Session
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line
from qrspi.world.files import json_log
from tests import runs
from tests.cli.conftest import NOW, Call

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
    "log user-auth",
    "log user-auth --json",
    "log user-auth -n 1",
    "log user-auth -n 0",
    "log --lines 02 user-auth -n 01 --files",
    "log --all user-auth",
    "--root docs/qrspi log user-auth -n 2 -q",
    "log",
    "log nobody --json",
    "next user-auth --dry-run",
    "next user-auth --json --dry-run",
    "next --exit-code user-auth --dry-run --anyway",
    "next nobody --json",
    "show user-auth",
    "show user-auth goals --json",
    "show goals --round 1 --dropped",
    "show user-auth nothing",
    "show --since-approval user-auth goals",
    "inbox",
    "inbox --commands",
    "--json inbox",
    "brief user-auth --chars 300",
    "brief nobody",
    "explain user-auth --json",
    "explain -q",
    "config show user-auth",
    "config show --json user-auth",
    "config show nobody",
    "route show user-auth",
    "--json route show user-auth",
    "task list user-auth",
    "task list user-auth --json",
    "task list",
    "spend",
    "spend --json",
    "--root docs/qrspi/2026-05-17-user-auth spend",
    "doctor",
    "doctor --json",
    "schema",
    "schema --json",
    "schema qrspi/status/v1",
    "schema statsu",
    "round assemble goals --dry-run --json",
    "round assemble user-auth goals --round 1",
    "frontmatter get docs/qrspi/2026-05-17-user-auth/goals.md status",
    "frontmatter get nothing.md status --json",
]


LOG = b"".join(
    json_log.encode(audit_trail.render(Line(NOW, "cli", event, "goals", 1)))
    for event in ("prepare-round", "assemble", "commit-round")
)


@pytest.fixture
def two_runs(project: Path) -> Path:
    run = {"config.md": runs.config(), "goals.md": runs.artifact(), audit_trail.FILE: LOG}
    runs.on_disk(project, run)
    closed = {"config.md": runs.config("quick"), "closed.md": b"---\nclosed: today\n---\n"}
    runs.on_disk(project, closed, "2026-05-18-old-idea")
    return project


@pytest.mark.parametrize("line", PLAIN)
def test_both_ways_give_the_same_bytes(
    line: str, two_runs: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = qrspi(*line.split())
    monkeypatch.setattr(plain_forms, "answer", lambda session, words: None)
    assert qrspi(*line.split()) == short


@pytest.mark.parametrize(
    "line",
    [
        "",
        "next --dispatch",
        "next --onto main",
        "next one two",
        "show one two three",
        "show --round 0",
        "show --round",
        "inbox one",
        "brief --chars 199",
        "explain --file",
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
        "status -n 3",
        "log --follow",
        "log --all -n 3",
        "log -n",
        "log -n -3",
        "log -n3",
        "log -n ٣",
        "log -n 9999999999",
        "log --lines=3",
        "log one two",
        "log --explain",
        "log status --checklist",
        "config",
        "config user-auth show",
        "config set user-auth",
        "config --json show",
        "spend add",
        "spend user-auth",
        "doctor now",
        "schema status log",
        "round",
        "round assemble",
        "round check goals",
        "round goals assemble",
        "round assemble goals --adopt",
        "frontmatter get one",
        "frontmatter get one two three",
        "frontmatter set one two three",
        "task start",
    ],
)
def test_everything_else_is_for_click(line: str) -> None:
    assert plain_forms.answer(Session(), line.split()) is None


@pytest.mark.rule("SPE-03")
@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["log", "user-auth", "-n", "1"],
        ["next", "user-auth"],
        ["show", "user-auth"],
        ["inbox"],
        ["brief", "user-auth"],
        ["explain", "user-auth"],
        ["schema", "status"],
    ],
    ids=" ".join,
)
def test_a_plain_command_does_without_click(words: list[str], two_runs: Path) -> None:
    code = f"import sys; from qrspi.cli import main\ntry: main({words})\n"
    code += "finally: print({'click', 'inspect'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("set()\n")
