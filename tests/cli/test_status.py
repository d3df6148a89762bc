from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from qrspi.world.runs import heartbeat
from tests import runs
from tests.cli.conftest import COMMAND, NOW, Call
from tests.cli.terminal import Terminal

FOOTER = "\nNo daemon watches these runs.\n"


@pytest.fixture
def designing(project: Path) -> Path:
    """A run whose design is reviewed, with a decision open."""
    design = runs.artifact()
    files = {
        "config.md": runs.config(),
        **runs.approved("goals", "questions", "research"),
        "design.md": design,
        "reviews/goals/round-01/quality-claude.clean.md": runs.clean(),
        "reviews/design/round-01/.dispatch-manifest.json": runs.manifest(
            "design", tags=("quality-claude",), body=design
        ),
        "reviews/design/round-01/quality-claude.finding-F01.md": runs.finding(step="design"),
    }
    return runs.on_disk(project, files)


def test_the_page_of_one_run(designing: Path, qrspi: Call) -> None:
    assert qrspi("status") == (
        0,
        """\
2026-05-17-user-auth  (full pipeline, phase 1)

STEP             STATUS    ROUNDS  STAGE      FINDINGS
[x] goals        approved  1       closed
[x] questions    approved  -       none
[x] research     approved  -       none
[~] design       draft     1       verifying  1 kept, 0 dropped
[ ] phasing      missing   -       none
[ ] structure    missing   -       none
[ ] plan         missing   -       none
[ ] parallelize  missing   -       none
[ ] implement    missing   -       none
[ ] integrate    missing   -       none
[ ] test         missing   -       none

Next: Score 1 finding of design round 1: each needs a .score.yml beside it in \
reviews/design/round-01.

**Compaction checkpoint: pre-fanout.** Verifiers are about to be sent in parallel.
"""
        + FOOTER,
        "",
    )


@pytest.mark.rule("OUT-08")
def test_the_checklist(designing: Path, qrspi: Call) -> None:
    assert qrspi("status", "--checklist") == (
        0,
        "2026-05-17-user-auth\n[x] goals\n[x] questions\n[x] research\n[~] design\n[ ] phasing\n"
        "[ ] structure\n[ ] plan\n[ ] parallelize\n[ ] implement\n[ ] integrate\n[ ] test\n",
        "",
    )
    steps = qrspi("status", "--json").json["runs"][0]["steps"]
    assert [step["progress"] for step in steps] == [
        *["completed"] * 3,
        "in_progress",
        *["pending"] * 7,
    ]


@pytest.mark.rule("OUT-02")
def test_the_document_has_the_keys_that_programs_count_on(designing: Path, qrspi: Call) -> None:
    result = qrspi("--json", "status", "user-auth")
    document = result.json
    (run,) = document.pop("runs")
    assert document == {"schema": "qrspi/status/v1", "daemon": None, "thorough": True}
    assert [run[key] for key in ("run", "path", "pipeline", "phase", "current_step")] == [
        "2026-05-17-user-auth",
        "docs/qrspi/2026-05-17-user-auth",
        "full",
        1,
        "design",
    ]
    assert run["steps"][3] == {
        "step": "design",
        "artifact": "design.md",
        "status": "draft",
        "rounds": 1,
        "stage": "verifying",
        "kept": 1,
        "dropped": 0,
        "progress": "in_progress",
    }
    assert {key: run["next"][key] for key in ("action", "who", "step", "round", "missing")} == {
        "action": "verify",
        "who": "agent",
        "step": "design",
        "round": 1,
        "missing": ["quality-claude.finding-F01"],
    }
    assert result.out.count("\n") == 1


def test_without_a_run_all_open_ones_are_shown(designing: Path, project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-dark-mode")
    closed = {"config.md": runs.config("quick"), "closed.md": b"---\nclosed: then\n---\n"}
    runs.on_disk(project, closed, "2026-05-19-old-idea")
    assert qrspi("status") == (
        0,
        """\
RUN                   STEP    ROUND  ACTION  WAITS FOR
2026-05-17-user-auth  design  1      verify  agent
2026-05-18-dark-mode  goals   -      author  human

2026-05-17-user-auth
  Next: Score 1 finding of design round 1: each needs a .score.yml beside it in \
reviews/design/round-01.

2026-05-18-dark-mode
  Next: Write goals.md, then run `qrspi next 2026-05-18-dark-mode`.

No daemon watches these runs.
Changes after an approval are looked for by `qrspi status RUN` only.
""",
        "",
    )
    everything = qrspi("status", "--all", "--json").json["runs"]
    assert [(run["run"], run["closed"]) for run in everything] == [
        ("2026-05-17-user-auth", False),
        ("2026-05-18-dark-mode", False),
        ("2026-05-19-old-idea", True),
    ]


@pytest.mark.rule("APV-04")
def test_edits_after_approval_are_looked_for_when_one_run_is_asked_for(
    designing: Path, project: Path, qrspi: Call
) -> None:
    record = {"event": "approve", "step": "goals", "body_hash": "0" * 64, "round": 1}
    (designing / "approvals.jsonl").write_text(json.dumps(record) + "\n")
    alone = qrspi("status", "--json").json
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-dark-mode")
    among = qrspi("status", "--json").json
    codes = [[item["code"] for item in found["runs"][0]["warnings"]] for found in (alone, among)]
    assert (codes, alone["thorough"], among["thorough"]) == (
        [["edited-after-approval"], []],
        True,
        False,
    )


def test_the_last_open_run_is_looked_at_closely(
    designing: Path, project: Path, qrspi: Call
) -> None:
    closed = {"config.md": runs.config("quick"), "closed.md": b""}
    runs.on_disk(project, closed, "2026-05-19-old-idea")
    assert qrspi("status", "--json").json["thorough"] is True


def test_explained(designing: Path, qrspi: Call) -> None:
    assert qrspi("status", "--explain").out.splitlines()[16:20] == [
        "  because 1 finding(s) have no score yet",
        "  reads reviews/design/round-01/quality-claude.finding-F01.md",
        "  needs quality-claude.finding-F01",
        "",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "status",
            "No open runs in {}. Start one with `qrspi init SLUG`; `--all` shows closed ones.\n",
        ),
        ("status --all", "No runs in {}. Start one with `qrspi init SLUG`.\n"),
    ],
)
def test_an_empty_folder(project: Path, qrspi: Call, words: str, line: str) -> None:
    assert qrspi(*words.split()) == (0, line.format(project / "docs/qrspi"), "")


def test_one_broken_run_hides_no_other(designing: Path, project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md/x": b"", "goals.md": b""}, "a-broken-one")
    runs.on_disk(project, {"config.md": b"\xff\x00", "goals.md": b""}, "b-broken-one")
    runs.on_disk(project, {"config.md": b"---\nroute: goals\n---\n"}, "c-broken-one")
    found = qrspi("status", "--json").json["runs"]
    assert [(run["run"], run["current_step"], run["next"]["action"]) for run in found] == [
        ("2026-05-17-user-auth", "design", "verify"),
        ("a-broken-one", None, "blocked"),
        ("b-broken-one", None, "blocked"),
        ("c-broken-one", None, "blocked"),
    ]
    assert [run["errors"][0]["message"] for run in found[1:]] == [
        "config.md is not a regular file (directory)",
        "config.md:1:1: bytes that are not UTF-8",
        "config.md: pipeline is missing; expected full or quick",
    ]
    assert [run["errors"][0]["options"][-1] for run in found[1:]] == ["Abort"] * 3
    listed = qrspi("status").out.splitlines()[:5]
    assert [line.split()[0] for line in listed] == [
        "RUN",
        "2026-05-17-user-auth",
        "a-broken-one",
        "b-broken-one",
        "c-broken-one",
    ]


def test_a_checklist_of_a_broken_run_says_what_is_wrong(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"goals.md": b""}, "no-config")
    line = "error: config.md not found in the artifact directory.\n"
    assert qrspi("status", "--checklist") == (0, f"no-config\n{line}", "")


@pytest.mark.rule("DMN-05")
def test_a_living_daemon_is_shown(designing: Path, project: Path, process: Call) -> None:
    with heartbeat.watching(str(project / "docs/qrspi"), NOW) as beat:
        beat("2026-05-17T09:31:00Z")
        said = process("status", "--json").json["daemon"]
        line = process("status").out.splitlines()[-1]
    assert said["beat"] == "2026-05-17T09:31:00Z"
    assert line == (
        f"A daemon watches these runs: process {said['pid']}, last look 2026-05-17T09:31:00Z."
    )
    assert process("status", "--json").json["daemon"] is None


def test_twenty_columns(
    designing: Path, project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert qrspi("status").out.splitlines()[2:6] == [
        "STEP             ST…",
        "[x] goals        ap…",
        "[x] questions    ap…",
        "[x] research     ap…",
    ]
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-dark-mode")
    assert qrspi("status").out.splitlines()[:7] == [
        "2026-05-17-user-auth",
        "  design: verify (agent)",
        "  Next: Score 1 finding of design round 1: each needs a .score.yml beside it in "
        "reviews/design/round-01.",
        "",
        "2026-05-18-dark-mode",
        "  goals: author (human)",
        "  Next: Write goals.md, then run `qrspi next 2026-05-18-dark-mode`.",
    ]


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        (70, "STEP STATUS ROUNDS STAGE FINDINGS"),
        (50, "STEP STATUS ROUNDS STAGE"),
        (30, "STEP STATUS"),
    ],
)
def test_a_narrow_terminal_has_fewer_columns(
    designing: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch, columns: int, head: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert qrspi("status").out.splitlines()[2].split() == head.split()


@pytest.mark.rule("OUT-01")
@pytest.mark.parametrize(
    ("settings", "colours"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"CI": "true"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colours_only_on_a_terminal_that_takes_them(
    designing: Path, settings: dict[str, str], colours: bool
) -> None:
    with Terminal("status", **settings) as terminal:
        assert terminal.end() == 0
    assert ("\x1b[" in terminal.screen) == colours
    assert "[~] design       draft     1       verifying  1 kept, 0 dropped" in terminal.screen


@pytest.mark.rule("OUT-01")
def test_no_colours_when_asked(designing: Path) -> None:
    with Terminal("--no-color", "status") as terminal:
        assert terminal.end() == 0
    assert "\x1b" not in terminal.screen


@pytest.mark.rule("SEC-04")
def test_names_and_texts_cannot_move_the_cursor(project: Path, qrspi: Call) -> None:
    name = "2026-05-17-x\x1b[2Jy\u202ez"
    runs.on_disk(project, {"config.md": runs.config(pipeline="\x1b[31mfull\u200b")}, name)
    shown = qrspi("status").out
    assert "2026-05-17-x\\x1b[2Jy\\u202ez" in shown
    assert {char for char in shown if not char.isprintable()} == {"\n"}
    document = qrspi("status", "--json")
    assert document.json["runs"][0]["run"] == name
    assert document.out.isascii()


def test_watching_prints_each_new_state(designing: Path, project: Path) -> None:
    words = [COMMAND, "status", "--watch", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=project) as watching:
        assert watching.stdout
        first = json.loads(watching.stdout.readline())
        sidecar = designing / "reviews/design/round-01/quality-claude.finding-F01.score.yml"
        sidecar.write_bytes(runs.score(95))
        second = json.loads(watching.stdout.readline())
        watching.send_signal(2)
        assert watching.wait(30) == 130
    actions = [found["runs"][0]["next"]["action"] for found in (first, second)]
    assert actions == ["verify", "assemble"]


def test_watching_draws_in_place_on_a_terminal(designing: Path, project: Path) -> None:
    with Terminal("status", "--watch") as terminal:
        terminal.until("verifying")
        sidecar = designing / "reviews/design/round-01/quality-claude.finding-F01.score.yml"
        sidecar.write_bytes(runs.score(95))
        terminal.until("scored")
        terminal.interrupt()
        assert terminal.end() == 130
    assert terminal.screen.startswith("\x1b[?1049h")
    assert "\x1b[?1049l" in terminal.screen


def test_sentences_are_broken_between_words_on_a_terminal(designing: Path, project: Path) -> None:
    with Terminal("--no-color", "status", columns=60) as terminal:
        assert terminal.end() == 0
    assert (
        "Next: Score 1 finding of design round 1: each needs a\n"
        "  .score.yml beside it in reviews/design/round-01.\n"
    ) in terminal.screen


@pytest.mark.rule("OUT-04")
def test_progress_is_drawn_and_erased(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from qrspi.cli import progress_line as progress

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    assert list(progress.told("abc", "reading runs")) == ["a", "b", "c"]
    erase = "\r\x1b[K"
    drawn = "".join(f"{erase}reading runs: {at} of 3" for at in range(3))
    assert capsys.readouterr() == ("", drawn + erase)


@pytest.mark.rule("OUT-04")
def test_quick_work_draws_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    from qrspi.cli import progress_line as progress

    assert list(progress.told("abc", "reading runs")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")
