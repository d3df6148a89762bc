"""What a plan owes before it is approved, what a person reads with care, and what is warned of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import derive
from qrspi.core.model import Next
from qrspi.core.pipeline import ROUTES, STEP, subject_of
from qrspi.core.records import approvals, audit_trail, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.core.rounds import loop as loops
from qrspi.world.files import json_log
from tests import deliveries, quick
from tests.core.rounds.test_loop import CLEAN, SCORED, evaluated, opened, with_engine_files
from tests.runs import (
    RUN,
    approved,
    artifact,
    clean,
    config,
    manifest,
    text_hash,
    tree,
)
from tests.task_texts import task

FULL, QUICK = ROUTES["full"], ROUTES["quick"]
PLAN = artifact(body="# Plan\n")
PLACE = f"{STEP['plan'].reviews}/round-01"
TAGS = ("quality-claude", "scope-claude")


def at_plan(gates: str, *, reviewed: bool = True) -> Next:
    """With a round without findings that the engine has assembled, or before any."""
    settings = config("quick", gates=gates, cascade="off", review_depth="quick")
    files = {"config.md": settings, **approved(*QUICK[:3]), "plan.md": PLAN}
    files |= {"tasks/task-01.md": task()}
    if not reviewed:
        return derive(tree(files)).next
    about = subject_of("plan")
    text = step_text.body_hash(tree(files), about)
    files |= {f"{PLACE}/{tag}.clean.md": clean(tag) for tag in TAGS}
    files[f"{PLACE}/.dispatch-manifest.json"] = manifest("plan", 1, TAGS, body_hash=text)
    files[f"{PLACE}-scope-set.txt"] = b"# scope-set for round 1\n# total_findings_kept: 0\n"
    seen = loops.evaluate(tree(files), about, configs.read(settings))
    return derive(tree(files, {f"{PLACE}-verified.md": seen.verified})).next


OWES = f"1 task has no PASS yet: `qrspi quality batch {RUN}` has them judged first."


@pytest.mark.rule("AUD-01", "QV-13")
@pytest.mark.parametrize(
    ("gates", "kind", "owes"),
    [
        ("{audit: on}", "audit", False),
        ("{audit: on, quality: cache-only}", "audit", False),
        ("{quality: cache-only}", "approve", True),
        ("{quality: off}", "approve", False),
    ],
)
def test_a_plan_is_audited_and_its_tasks_judged_before_a_person_is_asked(
    gates: str, kind: str, owes: bool
) -> None:
    answer = at_plan(gates)
    assert (answer.kind, OWES in answer.summary) == (kind, owes)


@pytest.mark.rule("AUD-01", "QV-13")
@pytest.mark.parametrize("gates", ["{audit: on}", "{quality: cache-only}"])
def test_before_its_review_a_plan_owes_nothing_else(gates: str) -> None:
    answer = at_plan(gates, reviewed=False)
    assert (answer.action, OWES in answer.summary) == ("prepare-round", False)


def test_what_is_read_with_care_is_told_where_a_person_decides_and_nowhere_else() -> None:
    gate = derive(tree(with_engine_files(opened() | CLEAN))).next
    assert gate.kind == "approve"
    assert [line for line in gate.care if "round 1" in line] != []
    assert derive(tree(opened() | SCORED)).next.care == ()


@pytest.mark.rule("GRD-05")
def test_what_nobody_read_in_an_earlier_round_is_told_at_the_gate_and_stops_the_cascade(
    tmp_path: Path,
) -> None:
    run = quick.fixed(tmp_path, "questions")
    quick.say_clean(run, "questions", 2)
    lost = f"{quick.place('questions')}/quality-claude-finding-2.md"
    quick.put(run, lost, b"x")
    quick.put(run, f"{quick.place('questions', 2)}/notes.md", b"x")
    gate = quick.advance(run).state.next
    assert gate.kind == "approve"
    assert [line for line in gate.care if "nobody" in line][-1] == (
        f"Read by nobody: {lost} (+1 more), as no round knows its name. "
        "Did you mean quality-claude.finding-F02.md?"
    )


@pytest.mark.rule("TST-02")
def test_a_complete_run_says_how_its_tests_stood_when_they_were_approved() -> None:
    text = artifact("approved")
    hashed = text_hash(text, STEP["test"].artifact)
    log = approvals.render(Record("approve", "test", hashed, 1, tests="failed"))
    files = {"config.md": config("quick"), **approved(*QUICK), approvals.FILE: log}
    state = derive(tree(files))
    assert state.complete
    assert state.tests and state.tests.state == "failed"


@pytest.mark.rule("ST-09")
def test_a_run_whose_route_cannot_be_read_still_has_its_pipeline_and_phase() -> None:
    state = derive(tree({"config.md": config("quick", route="nowhere")}))
    assert (state.pipeline, state.phase, state.route) == ("quick", 1, ())


@pytest.mark.rule("ST-06")
def test_an_artifact_that_cannot_be_read_is_an_error_and_no_warning_besides() -> None:
    broken = b"---\nstatus: approved\nstatus: draft\n---\n"
    odd = b"---\nstatus: finished\n---\n"
    files = {"config.md": config(), "goals.md": broken, "questions.md": odd}
    state = derive(tree(files))
    assert "goals.md" in [one.file for one in state.errors]
    assert "goals.md" not in [one.file for one in state.warnings]


@pytest.mark.rule("IMPT-01")
@pytest.mark.parametrize(
    ("files", "elsewhere"),
    [
        ({"reviews/goals/round-01/x.md": b"x"}, True),
        ({}, False),
    ],
    ids=["with rounds", "without"],
)
def test_rounds_without_models_are_taken_in(files: Mapping[str, bytes], elsewhere: bool) -> None:
    state = derive(tree({"config.md": config(drop=("model_routing",))}, files))
    assert (f"qrspi import docs/qrspi/{RUN}" in state.next.summary) is elsewhere


@pytest.mark.rule("IMPT-01")
def test_another_fault_beside_rounds_is_none_of_another_tool() -> None:
    """A field that is there and wrong was written by somebody who is here."""
    bad = {"config.md": config(second_reviewer="maybe"), "reviews/goals/round-01/x.md": b"x"}
    assert "qrspi import" not in derive(tree(bad)).next.summary


@pytest.mark.rule("ST-06")
def test_the_stage_of_a_finished_step_says_whether_it_was_reviewed() -> None:
    files = {"config.md": config(), **approved("goals", "questions")}
    files["reviews/goals/round-01/quality-claude.clean.md"] = clean()
    steps = {one.step: one.stage for one in derive(tree(files)).steps}
    assert (steps["goals"], steps["questions"]) == ("closed", "none")


def waiting(state_files: Mapping[str, bytes]) -> list[str]:
    return [one.code for one in derive(tree(state_files)).warnings if one.code == "prompt-waits"]


@pytest.mark.rule("QV-15")
def test_a_prompt_of_a_quality_reviewer_that_nobody_answered_is_warned_of() -> None:
    files = {"config.md": config("quick"), **approved(*QUICK[:3]), "plan.md": PLAN}
    files |= {"tasks/task-01.md": task()}
    assert waiting(files) == []
    assert waiting(files | {".qrspi/dispatch/quality/task-01.md": b"Judge.\n"}) == ["prompt-waits"]


@pytest.mark.rule("RP-03")
def test_a_phase_that_is_being_put_away_comes_before_everything_else() -> None:
    """Its records are being moved: what they ask for meanwhile is not to be answered."""
    log = approvals.render(Record("replan", "plan", "", 0, replan="minor"))
    answer = derive(tree(deliveries.finished(), {approvals.FILE: log})).next
    assert (answer.step, answer.kind, answer.who) == ("replan", "archive-phase", "engine")


@pytest.mark.rule("LIV-18")
@pytest.mark.parametrize(
    ("bad", "faults"),
    [({}, 0), ({"reviews/goals/round-01/quality-claude.finding-F01.md": b"no\n"}, 1)],
)
def test_faults_are_errors_only_where_they_are_to_be_corrected(
    bad: Mapping[str, bytes], faults: int
) -> None:
    files = opened() | dict(bad)
    assert evaluated(files).files is not None
    assert len(derive(tree(files)).errors) == faults


TRAIL = Line(
    *("2026-05-17T09:30:00Z", "cli", "dispatch-review"),
    files=(Touched("reviews/goals/round-01/scope-claude.clean.md", None, "a" * 64),),
)
LOST = "reviews/goals/round-01/quality-claude.finding-F01.md"


@pytest.mark.rule("SEC-22")
@pytest.mark.parametrize(
    "files",
    [
        {audit_trail.FILE: json_log.encode(audit_trail.render(TRAIL))},
        {path: data for path, data in with_engine_files(opened() | SCORED).items() if path != LOST},
    ],
    ids=["all reviews, by the trail", "an answer, by the verified file"],
)
def test_what_vanished_is_missed_whichever_half_of_its_traces_is_left(
    files: Mapping[str, bytes],
) -> None:
    state = derive(tree({"config.md": config(), "goals.md": artifact()}, files))
    assert "vanished" in [one.code for one in state.warnings]


@pytest.mark.rule("LIV-10")
def test_a_plan_is_read_with_its_tasks(tmp_path: Path) -> None:
    run = quick.reviewed(tmp_path, "plan", cascade="off")
    gate = quick.advance(run).state.next
    assert gate.inputs == ("plan.md", *quick.TASKS)
    assert [line for line in gate.care if "plan.md" in line] == [
        "Read with care: plan.md with its 2 tasks is the text that round 1 reviewed; nobody has "
        "decided about it before."
    ]
