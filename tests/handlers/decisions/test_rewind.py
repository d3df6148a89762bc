"""Going back: the target and what was approved after it, in one record and one commit."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import approve, decide_findings, rewind
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job
from tests import runs
from tests.handlers.gates import NOW, TEXT, USER, WHO, Build, Gate, about, made_good, paused
from tests.handlers.refusals import refusal
from tests.runs import approved, artifact, config

pytestmark = pytest.mark.usefixtures("fixed_time")

STEPS = ("goals", "questions", "research", "design", "phasing", "structure", "plan")
FILES = {
    "config.md": config(),
    **approved(*STEPS),
    "tasks/task-01.md": artifact("approved"),
    "reviews/research/round-02/quality-claude.clean.md": runs.clean(round=2),
}
FLAG = "reviews/parallelize/round-01-backward-loop.flag"
PAUSE = "reviews/parallelize-loop-pause-round-01.md"
ROUND = "reviews/parallelize/round-01"
FINDING = "scope-claude.R1-F01"
RAISED = paused(
    "parallelize",
    TEXT,
    about("parallelize", cites="research/summary.md:L7"),
    about("parallelize", 2, cites="parallelization.md:L3"),
)
SAID = "The second claim contradicts the first."
OPEN = FILES | {"parallelization.md": TEXT} | RAISED


def to_research(job: Job) -> ChangeSet:
    return rewind.plan(job, "research")


def with_words(job: Job) -> ChangeSet:
    return rewind.plan(job, "research", words=b"Ask the mail team as well.")


def loop_back(job: Job) -> ChangeSet:
    return decide_findings.loop_back(job, FINDING, None)


def at_a_pause(root: Path) -> Gate:
    gate = Gate(root, OPEN)
    gate.next()
    gate.commit("assembled")
    return gate


def drafts(*steps: str) -> dict[str, bytes]:
    return {path: artifact("draft") for path in approved(*steps)}


@pytest.mark.rule("BWL-01", "APV-01", "CMT-06", "APR-04")
def test_the_target_and_every_later_step_return_to_draft(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    move, _ = gate.make(to_research)
    digest = {step: runs.text_hash(TEXT, runs.STEP[step].artifact) for step in STEPS}
    back = STEPS[2:]
    (record,) = gate.records()
    resets = {mark["step"]: mark for mark in record.pop("resets")}
    assert [one["file"] for one in record.pop("made")] == ["research/summary.md"]
    parts = [one["file"] for one in record.pop("parts")]
    assert {runs.STEP[step].artifact for step in back} <= set(parts)
    assert record == {
        "event": "rewind",
        "step": "research",
        "body_hash": digest["research"],
        "round": 2,
        "who": WHO,
        "when": NOW,
        "surface": "cli",
        "user": USER,
        "route": runs.ON_FULL,
    }
    assert {step: mark["round"] for step, mark in resets.items()} == {
        step: 2 if step == "research" else 0 for step in back
    }
    assert resets.pop("plan")["body_hash"] != digest["plan"]  # its tasks are part of its text
    assert all(mark["body_hash"] == digest[step] for step, mark in resets.items())
    after = gate.files()
    del after["approvals.jsonl"]
    assert after == FILES | drafts(*back) | {"tasks/task-01.md": artifact("draft")}
    assert gate.subjects() == ["docs(qrspi): rewind to research for user-auth", "start"]
    assert gate.committed() == sorted(["approvals.jsonl", *move.concerns])
    assert move.concerns == (
        "research/summary.md",
        "design.md",
        "phasing.md",
        "structure.md",
        "plan.md",
        "tasks/task-01.md",
    )


@pytest.mark.rule("LIV-04", "BWL-01")
def test_the_reason_for_going_back_reaches_the_author(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    gate.make(with_words)
    path = "feedback/research-round-02.md"
    assert "\n## User Feedback\n\nAsk the mail team as well.\n" in gate.read(path)
    assert [record["feedback"] for record in gate.records()] == [path]
    assert path in gate.committed()
    answer = gate.job().next
    assert answer.summary.startswith(
        f"research/summary.md was returned to draft by Ada Example on {NOW[:10]}: read {path}. "
    )
    assert path in answer.inputs


@pytest.mark.rule("BWL-01")
def test_a_reason_without_words_is_none(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    assert (
        refusal(gate.make, lambda job: rewind.plan(job, "research", words=b" ")).problem.code
        == "empty-feedback"
    )
    assert gate.files() == FILES


@pytest.mark.rule("BWL-01", "ST-10")
def test_each_step_that_went_back_is_written_again(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    gate.make(to_research)
    answer = gate.job().next
    assert (answer.action, answer.step, answer.because) == (
        "author",
        "research",
        ("research/summary.md was returned to draft and has not changed since",),
    )
    seen = approve.standing(gate.job(), "research")
    assert (seen.review, seen.clean) == ("Not reviewed", False)
    gate.write("research/summary.md", artifact(body="# New\n"))
    gate.make(lambda job: approve.plan(job, "research", Consent(unreviewed=True)))
    assert gate.job().next.because == ("design.md was returned to draft and has not changed since",)


@pytest.mark.rule("BWL-01")
def test_a_finished_run_can_be_taken_back(tmp_path: Path) -> None:
    route = ("goals", "questions", "research", "plan", "implement", "test")
    gate = Gate(tmp_path / "shop", {"config.md": config("quick"), **approved(*route)})
    gate.make(lambda job: rewind.plan(job, "plan"))
    assert [mark["step"] for mark in gate.records()[0]["resets"]] == ["plan", "implement", "test"]
    assert gate.job().facts.step == "plan"


@pytest.mark.rule("BWL-02", "BWL-04", "CNV-02")
def test_the_open_round_is_flagged_and_left(tmp_path: Path) -> None:
    gate = at_a_pause(tmp_path / "shop")
    before = gate.files()
    move, _ = gate.make(to_research)
    assert [edit.path for edit in move.edits[:3]] == [
        "approvals.jsonl",
        FLAG,
        "research/summary.md",
    ]
    after = gate.files()
    assert after[FLAG] == b""
    kept = {path: data for path, data in after.items() if path.startswith("reviews/")}
    assert kept == {p: d for p, d in before.items() if p.startswith("reviews/")} | {FLAG: b""}
    assert FLAG in gate.committed()


@pytest.mark.rule("BWL-02", "CNV-02", "CMT-06")
def test_the_next_round_of_the_step_that_was_left_looks_at_everything(tmp_path: Path) -> None:
    gate = at_a_pause(tmp_path / "shop")
    gate.git("checkout", "-q", "-b", "feature")
    gate.make(to_research)
    for step in STEPS[2:]:
        again = Consent(unreviewed=True)
        gate.make(lambda job, step=step, again=again: approve.plan(job, step, again))  # type: ignore[misc]
    assert gate.job().next.action == "prepare-round"
    gate.next()
    manifest = (gate.run / "reviews/parallelize/round-02/.dispatch-manifest.json").read_text()
    assert '"rule": "CNV-02"' in manifest
    assert not (gate.run / FLAG).exists()


@pytest.mark.rule("PSE-03", "BWL-04", "PSE-04")
def test_a_loop_back_decides_flags_and_rewinds(tmp_path: Path) -> None:
    gate = at_a_pause(tmp_path / "shop")
    move, _ = gate.make(loop_back)
    assert [edit.path for edit in move.edits[:5]] == [
        "feedback/research-round-02.md",
        "approvals.jsonl",
        FLAG,
        PAUSE,
        "research/summary.md",
    ]
    pause = gate.files()[PAUSE].decode()
    assert f"  {FINDING}: loop-back\n  scope-claude.R1-F02: pending\n" in pause
    decided, gone = gate.records()
    assert (decided["event"], decided["finding"], decided["option"]) == (
        *("decide", FINDING, "loop-back"),
    )
    assert decided["file_hash"] == hashlib.sha256(pause.encode()).hexdigest()
    assert gone["finding"] == FINDING
    assert gate.job().facts.step == "research"
    assert PAUSE in gate.committed()


@pytest.mark.rule("PSE-03", "LIV-04")
def test_the_finding_reaches_the_author_of_the_step_gone_back_to(tmp_path: Path) -> None:
    gate = at_a_pause(tmp_path / "shop")
    gate.make(lambda job: decide_findings.loop_back(job, FINDING, "design", note="Ask Nell."))
    path = "feedback/design-round-01.md"
    assert gate.records()[-1]["feedback"] == path
    where = f"This goes back to design.md for {FINDING} of parallelize round 1:"
    assert f"\n\nAsk Nell.\n\n{where}\n\n{SAID}\n" in gate.read(path)
    assert path in gate.committed()
    answer = gate.job().next
    assert (answer.step, path in answer.inputs) == ("design", True)
    gate.next()
    assert path in gate.read(".qrspi/dispatch/design/author.md")


@pytest.mark.rule("PSE-03", "LIV-04")
@pytest.mark.parametrize("named", [True, False])
def test_whoever_looks_for_facts_is_told_of_facts_alone(tmp_path: Path, named: bool) -> None:
    message = f"As {runs.RUN} asks, this is wrong." if named else SAID
    finding = runs.finding("scope-claude", step="parallelize", kind="scope", message=message)
    raised = {f"{ROUND}/{FINDING.replace('.R1-', '.finding-')}.md": finding}
    gate = Gate(tmp_path / "shop", OPEN | raised)
    gate.next()
    gate.commit("assembled")
    gate.make(lambda job: decide_findings.loop_back(job, FINDING, "research"))
    words = gate.read("feedback/research-round-02.md")
    assert (f"for {FINDING} of parallelize round 1" in words, message in words) == (True, not named)


@pytest.mark.rule("ENG-04", "BWL-01", "BWL-02")
@pytest.mark.parametrize("build", [to_research, with_words, loop_back])
def test_the_same_command_finishes_after_a_kill(tmp_path: Path, build: Build) -> None:
    gates = made_good(at_a_pause(tmp_path / "shop"), build)
    events = ["decide", "rewind"] if build is loop_back else ["rewind"]
    found = [[record["event"] for record in gate.records()] for gate in gates]
    assert found == [events] * {to_research: 9, with_words: 10, loop_back: 11}[build]
    gate = gates[-1]
    assert gate.has("feedback/research-round-02.md") == (build is not to_research)
    refusal(gate.make, build)


@pytest.mark.rule("ENG-04")
def test_what_was_approved_since_needs_a_record_of_its_own(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "shop", FILES | {"parallelization.md": TEXT})
    gate.make_first(to_research, 1)
    gate.make(lambda job: approve.plan(job, "parallelize", Consent(unreviewed=True)))
    gate.make(to_research)
    assert [record["event"] for record in gate.records()] == ["rewind", "approve", "rewind"]
    assert gate.status_of("parallelize") == b"status: draft"


@pytest.mark.rule("BWL-01")
@pytest.mark.parametrize(
    ("target", "line"),
    [
        (
            "parallelize",
            "parallelization.md is missing, so there is nothing to go back to; the run is at "
            "parallelize; steps to go back to: " + ", ".join(STEPS),
        ),
        (
            "ux",
            "ux is no part of this run's route: goals, questions, research, design, phasing, "
            "structure, plan, parallelize, implement, integrate, test",
        ),
    ],
)
def test_where_one_cannot_go_back_to(tmp_path: Path, target: str, line: str) -> None:
    gate = Gate(tmp_path / "shop", FILES)
    refused = refusal(gate.make, lambda job: rewind.plan(job, target))
    assert (refused.exit_code, str(refused)) == (3, line)
    assert gate.files() == FILES


@pytest.mark.rule("CMT-06")
def test_a_clone_finds_the_same_state(tmp_path: Path) -> None:
    gate = at_a_pause(tmp_path / "shop")
    gate.make(to_research)
    clone = Gate.__new__(Gate)
    clone.root = tmp_path / "clone"
    clone.run = clone.root / gate.run.relative_to(gate.root)
    clone.options = gate.options
    gate.git("clone", "-q", str(gate.root), str(clone.root))
    assert clone.files() == gate.files()
    assert clone.job().next == gate.job().next
