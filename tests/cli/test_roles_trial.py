"""`qrspi roles trial`: prompts out, answers in, and what they are worth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import runs, trials
from tests.cli.conftest import Call
from tests.cli.test_dispatch_commands import checked

ALL_FOUND = """\
ROLE                        ANSWERED  FOUND     MISSED  FALSE    ELSEWHERE
reviewer-code-quality       1 of 1    3 of 3    0       0 of 3   0
reviewer-code-simplifier    1 of 1    3 of 3    0       0 of 3   0
reviewer-goal-traceability  1 of 1    3 of 3    0       0 of 3   0
reviewer-implement-gate     1 of 1    2 of 2    0       0 of 2   0
reviewer-integration        1 of 1    3 of 3    0       0 of 3   0
reviewer-quality            2 of 2    6 of 6    0       0 of 6   0
reviewer-scope              1 of 1    3 of 3    0       0 of 3   0
reviewer-security           1 of 1    3 of 3    0       0 of 3   0
reviewer-silent-failure     1 of 1    3 of 3    0       0 of 3   0
reviewer-spec               1 of 1    3 of 3    0       0 of 3   0
reviewer-test-coverage      1 of 1    3 of 3    0       0 of 3   0
reviewer-type-design        1 of 1    3 of 3    0       0 of 3   0
reviewer-visual-fidelity    1 of 1    2 of 2    0       0 of 2   0
verifier                    80 of 80  40 of 40  0       0 of 40  0
"""


def test_prompts_are_written_with_what_they_are_about(project: Path, qrspi: Call) -> None:
    done = qrspi("roles", "trial", "--prompts", "p", "--model", "some-model")
    folder = project / "p"
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"Wrote 94 prompts to {folder}, and beside them the files that they are about.\n"
        "Give each to an agent that sees nothing else; put its answer into another folder, under "
        "the prompt's name. Then:\n"
        "  qrspi roles trial --answers DIR --model MODEL\n"
    )
    prompt = (folder / "spec-task.md").read_text("utf-8")
    assert "actual_model: some-model\n" in prompt
    assert f"worktree: {folder}/material/spec-task\n" in prompt
    code = (folder / "material/spec-task/lend/fees.py").read_text("utf-8")
    assert code == trials.case("spec-task").files["lend/fees.py"].decode()
    assert code in prompt
    assert not list(folder.rglob("case.json"))
    claim = trials.claim(trials.case("spec-task"), "b")
    told = (folder / f"{claim}.md").read_text("utf-8")
    place = folder / "material" / claim / "reviews" / "spec-claude.finding-F01.md"
    assert f"finding_file_path: {place}\n" in told and place.read_text("utf-8") in told
    others = list(folder.glob("material/*/reviews/*finding*"))
    assert len(others) == len({path.parent for path in others}) == 80


def test_whoever_finds_every_fault_and_nothing_else(project: Path, qrspi: Call) -> None:
    trials.write_all(project / "a")
    done = qrspi("roles", "trial", "--answers", "a")
    assert (done.code, done.out, done.err) == (0, ALL_FOUND, "")


def test_what_is_missed_taken_for_a_fault_or_of_no_use(project: Path, qrspi: Call) -> None:
    spec, gate = trials.case("spec-task"), trials.case("implement-gate")
    a, b, c, d = (trials.claim(gate, id) for id in "abcd")
    answers = project / "a"
    answers.mkdir()
    stray = trials.report(spec, "b", "a").replace("lend/fees.py:L8]", "lend/model.py:L1]")
    (answers / "spec-task.md").write_text(trials.report(spec, "b", "c") + stray[stray.index("<") :])
    (answers / "implement-gate.md").write_text("All is well.\n")
    (answers / f"{a}.md").write_text(trials.score(69))
    (answers / f"{b}.md").write_text(trials.score(70))
    (answers / f"{c}.md").write_text('score: VERIFY_FAILED\nreason: "No."\n')
    (answers / f"{d}.md").write_bytes(b"\xff\xfe")
    assert [one.id for one in gate.faults] == ["a", "c"]
    done = qrspi("roles", "trial", "--answers", "a", "--model", "m", "--json")
    document = checked(done, "roles-trial")
    assert (done.code, document["model"], document["date"]) == (0, "m", "2026-05-17")
    lines = qrspi("roles", "trial", "--answers", "a").out.splitlines()
    heard = [line for line in lines if " 0 of " not in line[:40] or "implement-gate " in line]
    assert [" ".join(line.split()) for line in heard] == [
        "ROLE ANSWERED FOUND MISSED FALSE ELSEWHERE",
        "reviewer-implement-gate 0 of 1 0 of 2 2 0 of 2 0",
        "reviewer-spec 1 of 1 1 of 3 2 1 of 3 1",
        "verifier 3 of 80 1 of 2 1 1 of 2 0",
        "",
        "implement-gate: cannot be used: the reply of implement-gate-claude has no finding; "
        "expected NO_FINDINGS, or findings that each begin with a line <<<FINDING-BOUNDARY>>>",
        "spec-task: missed d, e",
        "spec-task: false c",
        *sorted(
            (
                f"{a}, about implement-gate: missed a",
                f"{b}, about implement-gate: false b",
                f"{d}, about implement-gate: cannot be used: found bytes that are not UTF-8, "
                "expected UTF-8 text",
            )
        ),
    ]
    assert {one["name"]: one["problem"] for one in document["outcomes"] if one["problem"]} == {
        "implement-gate": "the reply of implement-gate-claude has no finding; expected "
        "NO_FINDINGS, or findings that each begin with a line <<<FINDING-BOUNDARY>>>",
        d: "found bytes that are not UTF-8, expected UTF-8 text",
    }


def test_only_some_roles(project: Path, qrspi: Call) -> None:
    trials.write_all(project / "a")
    done = qrspi(
        "roles", "trial", "--answers", "a", "--role", "reviewer-spec", "--role", "verifier"
    )
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "ROLE",
        "reviewer-spec",
        "verifier",
    ]


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        (
            (),
            2,
            "expected --prompts DIR, --answers DIR, or --send --answers DIR\n"
            "  qrspi roles trial --help\n",
        ),
        (
            ("--prompts", "p", "--send"),
            2,
            "expected --prompts DIR, --answers DIR, or --send --answers DIR\n"
            "  qrspi roles trial --help\n",
        ),
        (
            ("--answers", "a", "--jobs", "2"),
            2,
            "--jobs, --max-…, --tier-override and --replies need --send\n"
            "  qrspi roles trial --help\n",
        ),
        (
            ("--answers", "a", "--role", "tagger"),
            2,
            "--role: found 'tagger', expected one of reviewer-code-quality, "
            "reviewer-code-simplifier, reviewer-goal-traceability, reviewer-implement-gate, "
            "reviewer-integration, reviewer-quality, reviewer-scope, reviewer-security, "
            "reviewer-silent-failure, reviewer-spec, reviewer-test-coverage, "
            "reviewer-type-design, reviewer-visual-fidelity, verifier\n",
        ),
    ],
)
def test_what_is_refused(
    project: Path, qrspi: Call, words: tuple[str, ...], code: int, err: str
) -> None:
    done = qrspi("roles", "trial", *words)
    assert (done.code, done.out, done.err) == (code, "", err)
    assert not (project / "p").exists()


def test_a_folder_without_answers_is_named(project: Path, qrspi: Call) -> None:
    done = qrspi("roles", "trial", "--answers", ".")
    told = f"{project} has no answer yet; expected files such as code-quality-task.md.\n"
    assert (done.code, done.out, done.err) == (0, told, "")
    absent = qrspi("roles", "trial", "--answers", "a")
    assert (absent.code, absent.out) == (2, "")
    assert absent.err == (
        f"there is no folder {project}/a; expected one with answers under the prompts' names\n"
        "  qrspi roles trial --prompts DIR\n"
    )


def test_a_folder_that_cannot_be_written_is_one_line(project: Path, qrspi: Call) -> None:
    (project / "p").write_text("")
    done = qrspi("roles", "trial", "--prompts", "p/deeper")
    assert (done.code, done.err) == (4, f"cannot write {project}/p/deeper: Not a directory\n")


# Agents over a wire


AGENT = """\
import sys
assert "reviewer_tag: quality-claude" in sys.stdin.read()
print("NO_FINDINGS")
"""


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A run whose agents are a program that the user has allowed."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("QRSPI_TRUST", str(project))
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    config = runs.config("quick").replace(
        b"\n---\n", f"\ncommands:\n  claude: {{argv: [python3, {agent}]}}\n---\n".encode(), 1
    )
    return runs.on_disk(project, {"config.md": config})


def test_the_runs_own_agents_are_asked_and_nobody_twice(run: Path, qrspi: Call) -> None:
    words = ("roles", "trial", "--send", "--answers", "a", "--role", "reviewer-quality")
    done = qrspi(*words)
    assert (done.code, done.err) == (0, "[transport: shell-pipeline]\n")
    assert done.out == (
        "ROLE              ANSWERED  FOUND   MISSED  FALSE   ELSEWHERE\n"
        "reviewer-quality  2 of 2    0 of 6  6       0 of 6  0\n"
        "\n"
        "quality-plan: missed b, c, e\n"
        "quality-questions: missed a, d, e\n"
    )
    ledger = (run / ".qrspi/spend.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in ledger]
    assert [(one["step"], one["role"]) for one in entries] == [
        ("roles-trial", "reviewer-quality"),
        ("roles-trial", "reviewer-quality"),
    ]
    again = qrspi(*words)
    assert (again.code, again.out, again.err) == (0, done.out, "")
    assert (run / ".qrspi/spend.jsonl").read_text("utf-8").splitlines() == ledger


def test_a_limit_holds_and_what_was_answered_is_kept(run: Path, qrspi: Call) -> None:
    words = ("roles", "trial", "--send", "--answers", "a", "--role", "reviewer-quality")
    done = qrspi(*words, "--max-calls", "1", "--jobs", "1")
    assert done.code == 4
    assert sorted(path.name for path in (Path("a")).iterdir()) == ["quality-plan.md"]
    assert qrspi(*words).out.splitlines()[1].split()[1:4] == ["2", "of", "2"]


def test_a_program_that_nobody_allowed_is_not_started(
    run: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QRSPI_TRUST")
    done = qrspi("roles", "trial", "--send", "--answers", "a", "--role", "reviewer-spec")
    assert done.code == 3
    assert not Path("a").exists()


def test_agents_of_a_host_get_prompts_instead(project: Path, qrspi: Call) -> None:
    runs.on_disk(project, {"config.md": runs.config("quick")})
    done = qrspi("roles", "trial", "--send", "--answers", "a", "--role", "reviewer-spec")
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "config.md has neither a command nor a provider for claude: the host sends its agents\n"
        "  qrspi roles trial --prompts DIR\n"
    )


def test_replies_from_a_folder(run: Path, qrspi: Call, tmp_path: Path) -> None:
    trials.write_all(tmp_path / "replies")
    words = ("--send", "--answers", "a", "--replies", tmp_path / "replies")
    done = qrspi("roles", "trial", *words)
    assert (done.code, done.out, done.err) == (0, ALL_FOUND, "[transport: scripted]\n")


def test_a_reviewer_of_your_own_is_tried(
    project: Path, qrspi: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = project / ".qrspi/agents/reviewer-spec.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nname: reviewer-spec\ntier: low\n---\n# Our own\n\nLook.\n")
    monkeypatch.setenv("QRSPI_TRUST", str(project))
    assert qrspi("roles", "trial", "--prompts", "p", "--role", "reviewer-spec").code == 0
    assert "# Our own\n\nLook.\n" in (project / "p/spec-task.md").read_text("utf-8")


def test_the_package_has_the_material(process: Call, tmp_path: Path) -> None:
    """From a place that is no project."""
    told = process("roles", "trial", "--prompts", tmp_path / "p", "--role", "reviewer-spec")
    assert (told.code, (tmp_path / "p/spec-task.md").is_file()) == (0, True)
