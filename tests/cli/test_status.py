from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from qrspi.cli.answers import status as status_answer
from qrspi.core.pipeline import STEP
from qrspi.world.runs import heartbeat
from qrspi.world.runs.locate import RunDir
from tests import quick, runs
from tests.cli.conftest import COMMAND, NOW, Call
from tests.cli.terminal import Terminal
from tests.project import Project

WAYS = (
    "`qrspi prompt 2026-05-17-user-auth verify-quality-claude.finding-F01` prints what to tell it."
)


@pytest.fixture
def designing(project: Path) -> Path:
    """A run whose design is reviewed, with a decision open."""
    design = runs.artifact()
    files = {
        "config.md": runs.config(),
        **runs.approved("goals", "questions", "research"),
        **runs.on_record("goals", "questions", "research"),
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
        f"""\
2026-05-17-user-auth  (full pipeline, phase 1)

STEP             STATUS    ROUNDS  STAGE      FINDINGS
[x] goals        approved  1       closed
[x] questions    approved  -       none
[x] research     approved  -       none
[~] design       draft     1       verifying  1 to score
[ ] phasing      missing   -       none
[ ] structure    missing   -       none
[ ] plan         missing   -       none
[ ] parallelize  missing   -       none
[ ] implement    missing   -       none
[ ] integrate    missing   -       none
[ ] test         missing   -       none

Next: Score 1 finding of design round 1: it needs a .score.yml beside it in \
reviews/design/round-01. {WAYS}
""",
        "",
    )


HANDOFF = """
**Compaction checkpoint: pre-fanout.** Verifiers are about to be sent in parallel.
"""


@pytest.mark.rule("LIV-26", "OUT-09")
@pytest.mark.parametrize(
    ("host", "words", "ending"),
    [
        ({"CLAUDECODE": "1"}, ["status"], HANDOFF),
        ({"COPILOT_CLI": "1"}, ["status"], HANDOFF),
        ({"CLAUDECODE": "1"}, ["status", "-q"], ""),
        ({"CLAUDECODE": "1"}, ["status", "--checklist"], HANDOFF),
        ({}, ["status"], ""),
    ],
)
def test_only_a_host_that_reads_text_is_told_when_to_shed_its_context(
    designing: Path,
    qrspi: Call,
    monkeypatch: pytest.MonkeyPatch,
    host: dict[str, str],
    words: list[str],
    ending: str,
) -> None:
    plain = qrspi(*words).out
    for name, value in host.items():
        monkeypatch.setenv(name, value)
    assert qrspi(*words).out == plain + ending
    told = qrspi("status", "--json").json["runs"][0]["next"]["compaction"]
    assert told["type"] == "pre-fanout"


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
        "to_score": 1,
        "progress": "in_progress",
    }
    keys = ("action", "who", "step", "round", "missing", "waits_for")
    assert {key: run["next"][key] for key in keys} == {
        "action": "verify",
        "who": "agent",
        "step": "design",
        "round": 1,
        "missing": [
            {
                "file": "reviews/design/round-01/quality-claude.finding-F01.score.yml",
                "kind": "score",
                "schema": "schemas/sidecar.schema.json",
                "answer": "written",
            }
        ],
        "waits_for": ["quality-claude.finding-F01"],
    }
    assert result.out.count("\n") == 1


def test_without_a_run_all_open_ones_are_shown(designing: Path, project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")}, "2026-05-18-dark-mode")
    closed = {"config.md": runs.config("quick"), "closed.md": b"---\nclosed: then\n---\n"}
    runs.on_disk(project, closed, "2026-05-19-old-idea")
    assert qrspi("status") == (
        0,
        f"""\
RUN                   STEP    ROUND  ACTION  WAITS FOR
2026-05-17-user-auth  design  1      verify  agent
2026-05-18-dark-mode  goals   -      author  human

2026-05-17-user-auth
  Next: Score 1 finding of design round 1: it needs a .score.yml beside it in \
reviews/design/round-01. {WAYS}

2026-05-18-dark-mode
  Next: Write goals.md, then run `qrspi next 2026-05-18-dark-mode`. \
`qrspi prompt 2026-05-18-dark-mode author` prints what to tell an agent.

1 closed run is left out; `--all` shows it.
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
    with (designing / "approvals.jsonl").open("a") as log:
        log.write(json.dumps(record) + "\n")
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
    assert qrspi("status", "--explain").out.splitlines()[16:] == [
        "  because 1 finding without a score so far",
        "  reads reviews/design/round-01/quality-claude.finding-F01.md",
        "  reads design.md",
        "  reads goals.md",
        "  reads research/summary.md",
        "  needs quality-claude.finding-F01",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "status",
            'No open runs in {}. Start one with `qrspi init "TEXT" --pipeline quick`; `--all` '
            "shows closed ones.\n",
        ),
        ("status --all", 'No runs in {}. Start one with `qrspi init "TEXT" --pipeline quick`.\n'),
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
        beat("2026-05-17T09:29:30Z")
        said = process("status", "--json").json["daemon"]
        line = process("status").out.splitlines()[-1]
    assert said["beat"] == "2026-05-17T09:29:30Z"
    assert line == (
        f"A daemon watches these runs: process {said['pid']}, last look 2026-05-17T09:29:30Z."
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
        "  Next: Score 1 finding of design round 1: it needs a .score.yml beside it in "
        f"reviews/design/round-01. {WAYS}",
        "",
        "2026-05-18-dark-mode",
        "  goals: author (human)",
        "  Next: Write goals.md, then run `qrspi next 2026-05-18-dark-mode`. "
        "`qrspi prompt 2026-05-18-dark-mode author` prints what to tell an agent.",
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
    assert "[~] design       draft     1       verifying  1 to score" in terminal.screen


@pytest.mark.rule("OUT-01")
def test_no_colours_when_asked(designing: Path) -> None:
    with Terminal("--no-color", "status") as terminal:
        assert terminal.end() == 0
    assert "\x1b" not in terminal.screen


@pytest.mark.rule("SEC-04")
def test_names_and_texts_cannot_move_the_cursor(project: Path, qrspi: Call) -> None:
    config = {"config.md": runs.config(pipeline="\x1b[31mfull\u200b")}
    runs.on_disk(project, config)
    runs.on_disk(project, config, "2026-05-17-x\x1b[2Jy\u202ez")
    shown = qrspi("status")
    assert shown.err == (
        "'2026-05-17-x\\x1b[2Jy\\u202ez' cannot be a run: a run's name has only letters, "
        "digits, '.', '_' and '-'\n"
    )
    assert {char for char in shown.out if not char.isprintable()} == {"\n"}
    document = qrspi("status", "--json")
    assert [run["run"] for run in document.json["runs"]] == [runs.RUN]
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


@pytest.mark.rule("LIV-18", "LIV-17")
def test_each_fault_that_stops_a_run_is_told(project: Path, qrspi: Call) -> None:
    files = quick.files("plan")
    plan = "| Task |\n|---|\n| task-01 |\n| task-02 |\n| task-03 |\n| task-04 |\n"
    runs.on_disk(project, files | {"plan.md": runs.artifact(body=plan)})
    said = qrspi("status").out.partition("Next: ")[2]
    what = "has no file tasks/{}.md; write it, or take the task out of the plan"
    assert said == (
        f"plan.md:9: task-03 {what.format('task-03')} (+1 more). Correct it, then run "
        f"`qrspi next {runs.RUN}`.\n  and plan.md:10: task-04 {what.format('task-04')}\n"
    )


@pytest.mark.rule("LIV-29")
def test_watching_ends_with_q_and_says_so(designing: Path, project: Path) -> None:
    with Terminal("status", "--watch") as terminal:
        terminal.until("Press q to leave.")
        terminal.type("x")  # any other key is not even shown
        terminal.type("q")
        assert terminal.end() == 0
    rest = terminal.screen.rpartition("Press q to leave.")[2]
    assert rest.replace(" ", "").replace("\n", "") == "\x1b[?25h\x1b[?1049l"


@pytest.mark.rule("LIV-29")
def test_watching_without_a_keyboard_names_the_other_way_out(
    designing: Path, project: Path
) -> None:
    with Terminal("status", "--watch", stdin=subprocess.DEVNULL) as terminal:
        terminal.until("Press Ctrl-C to leave.")
        terminal.interrupt()
        assert terminal.end() == 130


@pytest.mark.rule("LIV-29")
def test_watching_keeps_commands_in_one_line_and_its_foot_in_sight(
    designing: Path, project: Path
) -> None:
    with Terminal("status", "--watch", columns=60, rows=8) as terminal:
        screen = terminal.until("Press q to leave.")
        terminal.type("q")
        assert terminal.end() == 0
    last = [line.rstrip() for line in screen.splitlines()][-3:]
    assert last == ["…", "", "Press q to leave."]


def test_sentences_are_broken_between_words_on_a_terminal(designing: Path, project: Path) -> None:
    with Terminal("--no-color", "status", columns=60) as terminal:
        assert terminal.end() == 0
    assert (
        "Next: Score 1 finding of design round 1: it needs a\n"
        "  .score.yml beside it in reviews/design/round-01."
    ) in terminal.screen


THREE = tuple(RunDir(name, f"/{name}") for name in "abc")


@pytest.mark.rule("OUT-04")
def test_progress_is_drawn_and_erased(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status_answer, "PATIENCE", 0.0)
    monkeypatch.setattr(status_answer, "PAUSE", 0.0)
    assert tuple(status_answer.counting(THREE, "reading runs")) == THREE
    erase = "\r\x1b[K"
    drawn = "".join(f"{erase}reading runs: {at} of 3" for at in range(3))
    assert capsys.readouterr() == ("", drawn + erase)


@pytest.mark.rule("OUT-04")
def test_quick_work_draws_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(status_answer.counting(THREE, "reading runs")) == THREE
    assert capsys.readouterr() == ("", "")


@pytest.mark.rule("SEC-22", "LIV-02")
def test_a_task_that_is_gone_is_named_with_the_command_that_restores_it(
    project: Path, qrspi: Call
) -> None:
    plan = "# Plan\n\n| Task |\n|---|\n| task-01 |\n| task-02 |\n"
    files = quick.files("plan", approvals="recorded")
    for step in ("goals", "questions", "research"):
        files |= {STEP[step].artifact: runs.artifact()}
    run = Project(project).begin(files | {"plan.md": runs.artifact(body=plan)}).run
    for step in ("goals", "questions", "research", "plan"):
        assert qrspi("approve", step, "--unreviewed").code == 0
    (run / "tasks/task-02.md").unlink()
    restore = f"git checkout HEAD -- :/docs/qrspi/{runs.RUN}/tasks/task-02.md"
    (told,) = qrspi("status", "--json").json["runs"]
    assert [waits["file"] for waits in told["next"]["missing"]] == ["tasks/task-02.md"]
    assert told["next"]["command"] == restore
    assert [one["message"] for one in told["warnings"] if "plan.md" in one["message"]] == [
        "tasks/task-02.md, which Ada Example approved with plan.md, is gone, so plan.md counts as "
        f"a draft: bring it back with `{restore}`"
    ]
    assert f"is gone: bring it back with `{restore}`" in qrspi("verify").out
    subprocess.run(restore, shell=True, check=True)
    assert qrspi("verify").code == 0
