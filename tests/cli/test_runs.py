"""Which run a command is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qrspi.cli.session import Session
from qrspi.core.errors import Misuse
from tests import runs
from tests.cli.conftest import Call
from tests.cli.terminal import Terminal

NAMES = ("2026-05-17-user-auth", "2026-05-18-user-page", "2026-05-18-dark-mode")


@pytest.fixture
def three(project: Path) -> Path:
    for name in NAMES:
        runs.on_disk(project, {"config.md": runs.config("quick")}, name)
    return project


@pytest.mark.rule("RUN-02")
@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("2026-05-17-user-auth", NAMES[0]),
        ("user-auth", NAMES[0]),
        ("2026-05-17", NAMES[0]),
        ("user-p", NAMES[1]),
        ("d", NAMES[2]),
        ("user-auth/", NAMES[0]),
    ],
)
def test_names_slugs_and_prefixes(three: Path, qrspi: Call, word: str, name: str) -> None:
    assert qrspi("config", "show", word, "--json").json["run"] == name


@pytest.mark.rule("RUN-02", "OUT-03")
def test_a_word_that_means_several_lists_them_and_changes_nothing(three: Path, qrspi: Call) -> None:
    listed = "2026-05-17-user-auth, 2026-05-18-user-page"
    assert qrspi("close", "user", "--reason", "x") == (
        2,
        "",
        f"'user' could be any of 2 runs: {listed}\n"
        "  1) 2026-05-17-user-auth\n  2) 2026-05-18-user-page\n",
    )
    result = qrspi("close", "user", "--reason", "x", "--json")
    assert (result.code, result.err, result.json) == (
        2,
        "",
        {
            "schema": "qrspi/error/v1",
            "code": "ambiguous-run",
            "file": "",
            "field": "",
            "found": "user",
            "expected": "one run",
            "hint": "qrspi status",
            "message": f"'user' could be any of 2 runs: {listed}",
            "options": ["2026-05-17-user-auth", "2026-05-18-user-page"],
        },
    )
    assert list(three.rglob("closed.md")) == []


def test_without_a_word_the_folder_we_stand_in_decides(
    three: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert qrspi("config", "show").code == 2
    inside = three / "docs/qrspi" / NAMES[2] / "tasks"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert qrspi("config", "show", "--json").json["run"] == NAMES[2]


def test_the_root_may_name_the_run(three: Path, qrspi: Call) -> None:
    root = three / "docs/qrspi" / NAMES[1]
    assert qrspi("--root", root, "config", "show", "--json").json["run"] == NAMES[1]
    assert len(qrspi("--root", root, "status", "--json").json["runs"]) == 1


def test_on_a_terminal_one_is_picked(three: Path) -> None:
    with Terminal("route", "show") as terminal:
        terminal.until("Which run?\n")
        screen = terminal.until("3) 2026-05-18-user-page\nNumber: ")
        terminal.type("2\n")
        assert terminal.end() == 0
    assert "  1) 2026-05-17-user-auth\n  2) 2026-05-18-dark-mode\n" in screen
    assert "2026-05-18-dark-mode: the quick route" in terminal.screen


@pytest.mark.rule("RUN-09")
def test_with_a_step_only_runs_that_can_enter_it_are_meant(three: Path) -> None:
    run = three / "docs/qrspi" / NAMES[1]
    (run / "goals.md").write_bytes(runs.artifact("approved"))
    assert Session().run_for(None, "questions").name == NAMES[1]
    (three / "docs/qrspi" / NAMES[0] / "goals.md").write_bytes(runs.artifact("approved"))
    with pytest.raises(Misuse) as two:
        Session().run_for(None, "questions")
    assert str(two.value) == (
        "2 runs are ready for questions: say which: 2026-05-17-user-auth, 2026-05-18-user-page"
    )
    with pytest.raises(Misuse) as none:
        Session().run_for(None, "design")
    assert str(none.value) == (
        f"no run in {three}/docs/qrspi is ready for design: `qrspi status` says what each needs"
    )


@pytest.mark.rule("LIV-27")
def test_the_only_open_run_is_meant_and_the_others_come_last(project: Path, qrspi: Call) -> None:
    closed = {"config.md": runs.config(), "closed.md": b"---\nclosed: then\n---\n"}
    runs.on_disk(project, closed, "2026-05-16-old-idea")
    runs.on_disk(project, {"config.md": runs.config()}, "2026-05-17-dark-mode")
    assert qrspi("next", "--json").json["run"] == "2026-05-17-dark-mode"
    runs.on_disk(project, {"config.md": runs.config()}, "2026-05-18-user-auth")
    assert qrspi("next", "--json").json["options"] == [
        "2026-05-17-dark-mode",
        "2026-05-18-user-auth",
        "2026-05-16-old-idea",
    ]
    listed = qrspi("status", "--all", "--json").json["runs"]
    assert [run["run"] for run in listed][-1] == "2026-05-16-old-idea"


CLOSED = b"---\nclosed: then\n---\n"
Contents = dict[str, bytes]


@pytest.mark.rule("LIV-27")
def test_when_all_runs_have_ended_the_refusal_says_so_and_shows_a_command_that_works(
    project: Path, qrspi: Call
) -> None:
    for name in NAMES[:2]:
        runs.on_disk(project, {"config.md": runs.config(), "closed.md": CLOSED}, name)
    refused = qrspi("next", "--json")
    assert (refused.code, refused.json["message"], refused.json["hint"]) == (
        2,
        "2 runs are here, all of them complete or closed: say which: " + ", ".join(NAMES[:2]),
        f"qrspi next {NAMES[0]}",
    )
    assert qrspi(*refused.json["hint"].split()[1:]).code == 0


@pytest.mark.rule("LIV-27")
@pytest.mark.parametrize("closed", [{}, {"closed.md": CLOSED}])
@pytest.mark.parametrize(
    ("files", "branch", "meant"),
    [
        ({}, "qrspi/user-page", NAMES[1]),
        ({}, f"qrspi/{NAMES[1]}", NAMES[1]),
        ({}, "main", ""),
        ({"plan.md": b"---\nfeature_branch: own\n---\n"}, "own", NAMES[0]),
        ({"plan.md": b"---\nfeature_branch: own\n---\n"}, "qrspi/user-auth", ""),
        ({"config.md": runs.config("quick", feature_branch="own")}, "own", NAMES[0]),
    ],
)
def test_of_several_the_run_whose_branch_is_checked_out_is_meant(
    project: Path, qrspi: Call, closed: Contents, files: Contents, branch: str, meant: str
) -> None:
    subprocess.run(["git", "init", "-qb", branch], check=True)
    ground = {"config.md": runs.config("quick")} | closed
    runs.on_disk(project, ground | files, NAMES[0])
    runs.on_disk(project, ground, NAMES[1])
    answer = qrspi("next", "--dry-run", "--json")
    assert (answer.code, answer.json.get("run", "")) == (0 if meant else 2, meant)


@pytest.mark.rule("LIV-27")
def test_a_branch_that_two_runs_share_tells_nothing(project: Path, qrspi: Call) -> None:
    for name in NAMES[:2]:
        runs.on_disk(project, {"config.md": runs.config("quick", feature_branch="own")}, name)
    subprocess.run(["git", "init", "-qb", "own"], check=True)
    assert qrspi("next", "--json").code == 2


@pytest.mark.rule("LIV-27")
def test_a_step_that_is_spelled_wrongly(three: Path, qrspi: Call) -> None:
    result = qrspi("approve", "gaols")
    assert (result.code, result.err.splitlines()[0].endswith("; did you mean the step goals?")) == (
        2,
        True,
    )
    result = qrspi("approve", NAMES[0], "gaols")
    assert (result.code, result.err.splitlines()[0].endswith("; did you mean goals?")) == (2, True)
