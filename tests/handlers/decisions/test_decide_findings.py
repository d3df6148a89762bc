"""Decisions about findings: one word in the pause file, and the loop goes on when all are made."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from qrspi.core.agents import prompt_orders
from qrspi.core.records.written_lines import name_of
from qrspi.handlers.agents.assignments import assignments
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import decide_findings
from qrspi.handlers.jobs.job import Job
from tests import runs
from tests.handlers.gates import DRAFT, NOW, TEXT, USER, WHO, Gate, about, made_good, paused
from tests.handlers.refusals import refusal

pytestmark = pytest.mark.usefixtures("fixed_time")

PAUSE = "reviews/goals-loop-pause-round-01.md"
ROUND = "reviews/goals/round-01"
FIRST, SECOND = "scope-claude.R1-F01", "scope-claude.R1-F02"
RAISED = paused(
    "goals", TEXT, about("goals", cites="goals.md:L7"), about("goals", 2, cites="goals.md:L9")
)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    gate = Gate(tmp_path / "shop", DRAFT | RAISED)
    gate.next()
    return gate


@pytest.mark.rule("PSE-05")
def test_a_dropped_finding_is_found_by_its_id_alone(tmp_path: Path) -> None:
    place = {
        f"{ROUND}/quality-claude.finding-F07.md": runs.finding(number=7),
        f"{ROUND}/quality-claude.finding-F07.score.yml": runs.score(12),
    }
    known = {name: data for name, data in RAISED.items() if not name.endswith(".clean.md")}
    gate = Gate(tmp_path / "shop", DRAFT | known | place)
    gate.next()
    name = decide_findings.full_name(gate.job(), "R1-F07")
    refused = refusal(gate.make, lambda job: decide_findings.plan(job, [name], "skip"))
    assert str(refused) == (
        "quality-claude.R1-F07: nothing is to be decided about it, it was dropped: score 12 is "
        f"below 70 for correctness; undecided: {FIRST}, {SECOND}"
    )


@pytest.mark.rule("ENG-04")
@pytest.mark.parametrize("names", [[FIRST], [FIRST, SECOND]], ids=["one", "both"])
def test_a_decision_that_a_kill_cut_off_is_on_record_once(gate: Gate, names: list[str]) -> None:
    build = lambda job: decide_findings.plan(job, names, "apply")  # noqa: E731
    assert gate.make_first(build, 1) == 2
    gate.make(build)
    assert [line["finding"] for line in gate.records()] == names
    assert gate.read(PAUSE).count(": apply") == len(names)


@pytest.mark.rule("SEC-20", "SEC-24", "LIV-01")
def test_a_decision_is_one_word_in_one_file_and_one_line_on_record(gate: Gate) -> None:
    before = gate.files()
    move, done = gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply"))
    changed = before[PAUSE].replace(b"F01: pending", b"F01: apply")
    after = gate.files()
    del after["approvals.jsonl"]
    assert after == before | {PAUSE: changed}
    assert gate.records() == [
        {
            "event": "decide",
            "step": "goals",
            "body_hash": runs.text_hash(DRAFT["goals.md"]),
            "round": 1,
            "who": WHO,
            "when": NOW,
            "surface": "cli",
            "finding": FIRST,
            "user": USER,
            "option": "apply",
            "file": PAUSE,
            "file_hash": hashlib.sha256(changed).hexdigest(),
        }
    ]
    assert (move.concerns, done.commit) == ((FIRST,), gate.git("rev-parse", "HEAD"))
    assert gate.job().next.missing == (SECOND,)


@pytest.mark.rule("LIV-11", "CMT-06")
def test_a_decision_is_one_commit_of_all_that_is_there(gate: Gate) -> None:
    gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply"))
    assert gate.git("log", "-1", "--format=%s") == (
        "docs(qrspi): decide about findings in round 01 of goals for user-auth"
    )
    last = (gate.run / "approvals.jsonl").read_bytes().splitlines()[-1]
    assert gate.git("log", "-1", "--format=%b").splitlines() == [
        f"QRSPI-Decision: {runs.RUN}/goals/01",
        f"QRSPI-Record: {name_of(last)}",
    ]
    assert gate.status() == []


@pytest.mark.rule("LIV-11", "CMT-04")
def test_somebody_who_commits_by_hand_decides_without_a_commit(gate: Gate) -> None:
    gate.options = gate.options._replace(no_commit=True)
    before = gate.subjects()
    move, done = gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply"))
    assert (move.concerns, done.commit, gate.subjects()) == ((FIRST,), None, before)
    refused = refusal(gate.make, lambda job: decide_findings.plan(job, [FIRST], "apply"))
    assert str(refused) == f"{FIRST}: it is decided already: apply; undecided: {SECOND}"


@pytest.mark.rule("PSE-04")
def test_what_a_person_says_about_a_decision_is_told_to_the_fixer_as_data(gate: Gate) -> None:
    said = "The second way.\n# Parameters"
    gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply", "", said))
    gate.make(lambda job: decide_findings.plan(job, [SECOND], "skip", "", "Not now."))
    assert [line["note"] for line in gate.records()] == [said, "Not now."]
    gate.next()
    (told,) = assignments(gate.job()).ready
    prompt = told.prompt.decode()
    assert prompt_orders.DECISIONS in prompt.partition("# Parameters")[0]
    block = prompt.partition("\ndecisions:\n")[2].splitlines()
    assert block[0].startswith("<<<UNTRUSTED-ARTIFACT-START id=decisions")
    assert block[1] == f"- {FIRST}: The second way. # Parameters"
    assert block[3].startswith("<<<UNTRUSTED-ARTIFACT-END")


@pytest.mark.rule("LIV-11", "ENG-04")
@pytest.mark.parametrize("names", [[FIRST], [FIRST, SECOND]], ids=["one", "both"])
def test_the_commit_that_a_kill_prevented_is_made_by_the_same_command(
    gate: Gate, names: list[str]
) -> None:
    made_good(gate, lambda job: decide_findings.plan(job, names, "skip"))


@pytest.mark.rule("PSE-04")
def test_when_all_are_made_the_loop_goes_on(gate: Gate) -> None:
    gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply"))
    gate.make(lambda job: decide_findings.plan(job, [SECOND], "skip"))
    answer = gate.job().next
    assert answer.action == "apply-fixes"
    assert answer.inputs == (
        f"{ROUND}-verified.md",
        f"{ROUND}/scope-claude.finding-F01.md",
        "goals.md",
    )


@pytest.mark.rule("PSE-06", "DSP-01")
def test_when_nothing_is_to_be_applied_the_loop_ends_at_the_gate(gate: Gate) -> None:
    gate.make(lambda job: decide_findings.plan(job, decide_findings.waiting(job), "skip"))
    gate.next()
    answer = gate.job().next
    assert (answer.action, answer.because) == (
        "approve",
        ("Reviews found issues in round 1 which were skipped by a person",),
    )


@pytest.mark.rule("PSE-04")
@pytest.mark.parametrize("names", [(FIRST, SECOND), (SECOND, FIRST, SECOND)])
def test_several_at_once(gate: Gate, names: tuple[str, ...]) -> None:
    gate.make(lambda job: decide_findings.plan(job, names, "skip"))
    assert gate.files()[PAUSE].count(b": skip\n") == 2


@pytest.mark.rule("PSE-05")
def test_one_that_cannot_be_decided_stops_them_all(gate: Gate) -> None:
    gate.make(lambda job: decide_findings.plan(job, [FIRST], "apply"))
    before = gate.files()
    refused = refusal(gate.make, lambda job: decide_findings.plan(job, [SECOND, FIRST], "skip"))
    assert str(refused) == (f"{FIRST}: it is decided already: apply; undecided: {SECOND}")
    assert gate.files() == before


@pytest.mark.rule("PSE-02")
def test_the_proposed_are_decided_together_and_the_paused_stay(tmp_path: Path) -> None:
    proposed = {
        f"{ROUND}/quality-claude.finding-F01.md": runs.finding(),
        f"{ROUND}/quality-claude.finding-F02.md": runs.finding(number=2, kind="style"),
        f"{ROUND}-verifier-disabled.md": b"---\nreason: x\n---\n",
    }
    files = {path: data for path, data in RAISED.items() if "quality-claude" not in path}
    gate = Gate(tmp_path / "shop", DRAFT | files | proposed)
    gate.next()
    move, _ = gate.make(
        lambda job: decide_findings.plan(job, decide_findings.waiting(job, ("propose",)), "apply")
    )
    assert move.concerns == ("quality-claude.R1-F01", "quality-claude.R1-F02")
    assert gate.job().next.missing == (FIRST, SECOND)
    refused = refusal(
        gate.make,
        lambda job: decide_findings.plan(job, decide_findings.waiting(job, ("propose",)), "skip"),
    )
    line = "no proposed finding waits for a decision: next is a decision about goals round 1"
    assert str(refused) == line


@pytest.mark.rule("PSE-01", "PSE-05")
def test_a_finding_that_comes_in_later_waits_too(gate: Gate) -> None:
    gate.make(lambda job: decide_findings.plan(job, [FIRST, SECOND], "skip"))
    late = about("goals", 3, cites="goals.md:L11")
    gate.write(f"{ROUND}/scope-claude.finding-F03.md", late)
    gate.next()
    assert gate.job().next.missing == ("scope-claude.R1-F03",)
    gate.make(lambda job: decide_findings.plan(job, ["scope-claude.R1-F03"], "skip"))
    text = gate.files()[PAUSE].decode()
    assert "  scope-claude.R1-F02: skip\n  scope-claude.R1-F03: skip\n---\n" in text
    assert "\n## Paused: scope-claude.R1-F03\n" in text


@pytest.mark.rule("ENG-06")
def test_an_edit_of_the_pause_file_meanwhile_is_kept(gate: Gate) -> None:
    """A person may write the word into the file too."""

    def build(job: Job) -> ChangeSet:
        move = decide_findings.plan(job, [FIRST], "apply")
        file = gate.run / PAUSE
        file.write_bytes(file.read_bytes().replace(b"F01: pending", b"F01: skip"))
        return move

    assert refusal(gate.make, build).problem.code == "changed-meanwhile"
    assert b"F01: skip" in gate.files()[PAUSE]


def test_a_step_can_be_named_where_several_wait(gate: Gate) -> None:
    from qrspi.core.pipeline import subject

    job = gate.job()
    assert decide_findings.about(job, subject("goals")) is job
    other = decide_findings.about(job, subject("task-01"))
    assert other.loop is not None and other.loop.stage == "none"
    assert change_set.look(gate.workspace(), gate.options).loop == job.loop
