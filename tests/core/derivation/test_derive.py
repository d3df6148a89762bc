"""Where a run stands, from its files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import ROUTES, STEP, prerequisites
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps.authoring import EMPTY_GOALS as GOALS
from tests import runs
from tests.runs import RUN, approved, artifact, config, finding, manifest, score, tree

FULL = ROUTES["full"]
QUICK = ROUTES["quick"]


@pytest.mark.rule("ST-01", "ST-02")
@pytest.mark.parametrize("done", range(len(FULL) + 1))
def test_the_current_step_is_the_first_that_is_not_approved(done: int) -> None:
    state = derive(tree({"config.md": config()}, approved(*FULL[:done])))
    assert state.current_step == (FULL[done] if done < len(FULL) else None)
    assert state.complete is (done == len(FULL))


@pytest.mark.rule("ST-01")
def test_the_route_decides_and_not_the_pipeline_field() -> None:
    route = "[goals, questions, research, plan, implement, test]"
    state = derive(tree({"config.md": config("full", route=route)}, approved(*QUICK[:3])))
    assert state.current_step == "plan"


@pytest.mark.rule("ST-02")
@pytest.mark.parametrize(
    ("statuses", "step"),
    [
        ({}, "replan"),
        ({"plan.md": "replan-draft"}, "replan"),
        ({"plan.md": "draft"}, "plan"),
        ({"plan.md": "replan-draft", "test-results.md": "draft"}, "plan"),
    ],
)
def test_the_marker_calls_for_a_replan(statuses: Mapping[str, str], step: str) -> None:
    others = {name: artifact(status) for name, status in statuses.items()}
    marker = {"replan-pending.md": b"---\nphase: 1\n---\n"}
    state = derive(tree({"config.md": config()}, approved(*FULL), others, marker))
    assert (state.current_step, state.complete) == (step, False)


@pytest.mark.rule("ST-03")
def test_an_approval_behind_an_unapproved_artifact_is_stale_and_moves_nothing() -> None:
    state = derive(tree({"config.md": config()}, approved("goals", "design", "plan")))
    assert state.current_step == "questions"
    assert [(item.code, item.file, item.message) for item in state.warnings] == [
        (
            "stale-approval",
            "design.md",
            "design.md is approved, but questions.md before it is not",
        ),
        ("stale-approval", "plan.md", "plan.md is approved, but questions.md before it is not"),
        (
            "approved-without-record",
            "goals.md",
            "goals.md, design.md, plan.md say approved, and no record says who approved; "
            f"`qrspi log {runs.RUN}` shows what is on record",
        ),
    ]


NEEDS = [
    ("goals", FULL, ()),
    ("questions", FULL, ("goals",)),
    ("research", FULL, ("questions",)),
    ("design", FULL, ("goals", "research")),
    ("phasing", FULL, ("goals", "questions", "research", "design")),
    ("ux", ROUTES["full-ux"], ("goals", "research", "design", "phasing")),
    ("structure", FULL, ("goals", "research", "design", "phasing")),
    ("structure", ROUTES["full-ux"], ("goals", "research", "design", "phasing", "ux")),
    ("plan", FULL, ("goals", "research", "design", "phasing", "structure")),
    ("plan", QUICK, ("goals", "research")),
    ("parallelize", FULL, ("plan", "phasing")),
    ("implement", FULL, ("plan", "phasing", "parallelize")),
    ("implement", QUICK, ("plan",)),
    ("integrate", FULL, ("design", "phasing", "structure", "parallelize")),
    ("test", FULL, ("goals", "design", "phasing", "integrate")),
    ("test", QUICK, ("goals", "research", "implement")),
    ("replan", FULL, ("plan", "design", "phasing")),
]


@pytest.mark.rule("ST-04")
@pytest.mark.parametrize(("step", "route", "needs"), NEEDS)
def test_prerequisites(step: str, route: tuple[str, ...], needs: tuple[str, ...]) -> None:
    assert prerequisites(step, route) == needs


@pytest.mark.rule("ST-04")
def test_a_step_with_an_unapproved_prerequisite_names_the_artifact() -> None:
    route = "[goals, design, plan, parallelize, implement, test]"
    done = approved("goals", "design", "plan")
    answer = derive(tree({"config.md": config(route=route)}, done)).next
    assert (answer.action, answer.missing) == (
        "blocked",
        ("phasing.md", "tasks/task-01.md"),
    )
    assert answer.summary == (
        "parallelize cannot start: approve phasing.md, tasks/task-01.md first."
    )


@pytest.mark.rule("LIV-17", "ST-04")
@pytest.mark.parametrize(
    ("tasks", "why", "then"),
    [
        (
            {},
            "plan.md is approved, and no task has a file (tasks/task-01.md, …)",
            "so that it is written with its tasks",
        ),
        (
            {"tasks/task-01.md": artifact(), "tasks/task-02.md": artifact()},
            "plan.md is approved, and tasks/task-01.md, tasks/task-02.md not with it",
            "and tasks are approved with it again",
        ),
    ],
)
def test_an_approved_plan_without_an_approved_task_is_taken_back(
    tasks: dict[str, bytes], why: str, then: str
) -> None:
    done = approved("goals", "questions", "research", "plan")
    answer = derive(
        tree(
            {"config.md": config("quick", review_depth="quick", review_mode="single")}, done, tasks
        )
    ).next
    back = f"qrspi unapprove {RUN} plan"
    assert answer.summary == (
        f"implement cannot start: {why}. `{back}` takes the plan back, {then}."
    )
    assert (answer.because, answer.command) == ((why,), back)
    assert answer.missing == (tuple(tasks) or ("tasks/task-01.md",))


def reset(event: str, step: str, body: bytes, number: int = 0) -> bytes:
    mark = Mark(step, runs.text_hash(body, STEP[step].artifact), number)
    return approvals.render(Record(event, *mark, resets=(mark,)))


REJECTED = artifact(body="# Goals\n\nAn earlier text.\n")
FEEDBACK = (
    b"---\nstep: goals\nround: 1\nrejected_artifact: goals.md\n---\n\n## User Feedback\n\n"
    b"No.\n\n## Previous Artifact\n\n" + REJECTED
)

FORMER = b"""---
status: draft
---

# Goals

Say in plain words what should be true when this run is done.

## What we want

-

## Why we care

-

## What we know so far

-

## Limits we must keep

-
"""

AUTHORED = [
    ("missing", {}, "goals.md does not exist"),
    (
        "the skeleton",
        {"goals.md": GOALS.encode()},
        "goals.md is still the empty draft that init wrote",
    ),
    (
        "the skeleton of an earlier version",
        {"goals.md": FORMER},
        "goals.md is still the empty draft that init wrote",
    ),
    (
        "as rejected",
        {"goals.md": REJECTED, "feedback/goals-round-01.md": FEEDBACK},
        "goals.md is still the text that feedback/goals-round-01.md rejects",
    ),
    (
        "as rewound",
        {"goals.md": REJECTED, "approvals.jsonl": reset("rewind", "goals", REJECTED)},
        "goals.md was returned to draft and has not changed since",
    ),
]


@pytest.mark.rule("ST-10", "ST-06")
@pytest.mark.parametrize(("case", "files", "why"), AUTHORED, ids=[row[0] for row in AUTHORED])
def test_when_somebody_must_write(case: str, files: Mapping[str, bytes], why: str) -> None:
    answer = derive(tree({"config.md": config()}, files)).next
    assert (answer.action, answer.because) == ("author", (why,))


@pytest.mark.rule("ST-10")
@pytest.mark.parametrize(
    "files",
    [
        {"goals.md": artifact(body="# Goals\n\nOurs.\n")},
        {"goals.md": artifact(), "feedback/goals-round-01.md": FEEDBACK},
        {"goals.md": artifact(), "approvals.jsonl": reset("rewind", "goals", REJECTED)},
        {"goals.md": REJECTED, "approvals.jsonl": reset("unapprove", "goals", REJECTED)},
    ],
    ids=["written", "rewritten after feedback", "rewritten after a rewind", "unapproved"],
)
def test_a_text_of_its_own_is_reviewed(files: Mapping[str, bytes]) -> None:
    answer = derive(tree({"config.md": config()}, files)).next
    assert (answer.action, answer.round) == ("prepare-round", 1)


@pytest.mark.rule("ST-10")
def test_only_the_newest_feedback_counts() -> None:
    second = FEEDBACK.replace(b"An earlier text.", b"Another text.")
    files = {
        "goals.md": REJECTED,
        "feedback/goals-round-01.md": FEEDBACK,
        "feedback/goals-round-02.md": second,
    }
    assert derive(tree({"config.md": config()}, files)).next.action == "prepare-round"


@pytest.mark.rule("FM-04", "ST-06")
def test_an_artifact_that_cannot_be_read_blocks_its_step() -> None:
    files = {"goals.md": b"---\nstatus: approved\nstatus: draft\n---\n"}
    state = derive(tree({"config.md": config()}, files))
    assert state.steps[0].status == "invalid"
    assert [item.message for item in state.errors] == ["goals.md:3:1: repeated key 'status'"]
    assert (state.next.action, state.next.missing) == ("blocked", ("goals.md",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"---\nstatus: draft\nstatus: approved\n---\n",
            "goals.md:3:1: repeated key 'status': correct it",
        ),
        (
            b"---\ntitle: a: b\n---\n",
            "goals.md:2:9: mapping values are not allowed here: put quotes around a value that "
            "contains ': '",
        ),
        (
            b"---\ntags: [\n---\n",
            "goals.md:3:1: expected the node content, but found '<stream end>': close what was "
            "opened with [ or {",
        ),
    ],
)
def test_what_to_do_about_a_broken_artifact_is_said(text: bytes, said: str) -> None:
    state = derive(tree({"config.md": config(), "goals.md": text}))
    assert state.next.summary == f"{said}, then run `qrspi next {state.run}`."


@pytest.mark.rule("CFG-02", "ST-09")
def test_without_a_config_nothing_is_said_about_steps() -> None:
    state = derive(tree({"goals.md": artifact("approved")}))
    assert (state.current_step, state.next.action) == (None, "blocked")
    assert [item.code for item in state.errors] == ["config-missing"]
    assert state.complete is False


@pytest.mark.rule("CFG-14")
def test_a_bad_field_that_the_step_uses_blocks_it_and_another_only_warns() -> None:
    bad = derive(tree({"config.md": config(second_reviewer="maybe")}))
    assert (bad.current_step, bad.next.action) == ("goals", "blocked")
    assert [item.field for item in bad.errors] == ["second_reviewer"]
    other = derive(tree({"config.md": config(review_depth="huge")}))
    assert (other.errors, other.next.action) == ((), "author")
    assert [item.field for item in other.warnings] == ["review_depth"]


@pytest.mark.rule("RP-07")
def test_the_phase_is_one_more_than_the_archived_ones() -> None:
    files = {"phases/phase-01/plan.md": b"x", "phases/phase-02/plan.md": b"x"}
    assert derive(tree({"config.md": config()}, files)).phase == 3


def record(step: str, body: bytes) -> bytes:
    return approvals.render(Record("approve", step, runs.text_hash(body, STEP[step].artifact), 1))


@pytest.mark.rule("APV-01", "APV-02")
def test_edits_after_approval_are_named_with_what_was_built_on_them() -> None:
    before, after = artifact("approved"), artifact("approved", "# Text\n\nAnother word.\n")
    log = record("goals", before) + record("questions", before)
    files = {"goals.md": after, "questions.md": before, "approvals.jsonl": log}
    warnings = derive(tree({"config.md": config()}, files)).warnings
    assert [(item.code, item.file) for item in warnings] == [
        ("edited-after-approval", "goals.md"),
        ("upstream-changed", "questions.md"),
    ]


@pytest.mark.rule("APV-02")
def test_what_was_approved_again_is_compared_with_what_it_was_built_on_last() -> None:
    old, new = artifact("approved"), artifact("approved", "# Text\n\nAnother word.\n")
    log = record("goals", old) + record("questions", old) + record("goals", new)
    files = {"config.md": config(), "goals.md": new, "questions.md": old}
    stale = derive(tree(files, {"approvals.jsonl": log})).warnings
    assert [(item.code, item.file) for item in stale] == [("upstream-changed", "questions.md")]
    again = log + record("questions", old)
    assert derive(tree(files, {"approvals.jsonl": again})).warnings == ()


@pytest.mark.rule("APV-02")
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(
            b"status: approved", b"status: approved\nphase_start_commit: ada"
        ),
        lambda data: data.replace(b"Words.\n", b"Words.  \n"),
        lambda data: data.replace(b"\n", b"\r\n"),
    ],
    ids=["a field of the engine's", "white space at line ends", "line endings"],
)
def test_what_does_not_count_as_a_change(change: object) -> None:
    assert callable(change)
    before = artifact("approved")
    files = {"goals.md": change(before), "approvals.jsonl": record("goals", before)}
    assert derive(tree({"config.md": config()}, files)).warnings == ()


@pytest.mark.rule("APV-04")
def test_bodies_are_not_hashed_unless_asked() -> None:
    log = record("goals", artifact("approved", "# Other\n"))
    files = {"goals.md": artifact("approved"), "approvals.jsonl": log}
    assert derive(tree({"config.md": config()}, files), thorough=False).warnings == ()


@pytest.mark.rule("OUT-08")
def test_progress_of_each_step() -> None:
    state = derive(tree({"config.md": config("quick")}, approved("goals")))
    assert [step.progress for step in state.steps] == [
        "completed",
        "in_progress",
        "pending",
        "pending",
        "pending",
        "pending",
    ]


@pytest.mark.rule("RUN-07")
def test_odd_round_names_are_reported_in_a_stable_order() -> None:
    text = artifact()
    place = "reviews/goals"
    files = {
        "goals.md": text,
        f"{place}/round-1/x.md": b"",
        f"{place}/round-001/x.md": b"",
        f"{place}/round-02": b"a file",
        f"{place}/round-03/.dispatch-manifest.json": manifest(round=3, body=text),
    }
    warnings = derive(tree({"config.md": config()}, files)).warnings
    assert [item.message for item in warnings] == [
        "reviews/goals/round-001 is not a round: expected a directory round-NN",
        "reviews/goals/round-02 is not a round: expected a directory round-NN",
        "reviews/goals/round-1 is not a round: expected a directory round-NN",
        "reviews/goals: rounds 01-02 are missing below round 03",
    ]


@pytest.mark.rule("ST-06")
def test_the_step_shows_its_loop() -> None:
    text = artifact()
    place = "reviews/goals/round-01"
    files = {
        "goals.md": text,
        f"{place}/.dispatch-manifest.json": manifest(body=text),
        f"{place}/quality-claude.finding-F01.md": finding(),
        f"{place}/quality-claude.finding-F01.score.yml": score(40),
        f"{place}/scope-claude.finding-F01.md": finding("scope-claude", kind="scope"),
    }
    step = derive(tree({"config.md": config()}, files)).steps[0]
    assert (step.rounds, step.stage, step.kept, step.dropped) == (1, "scored", 1, 1)


def test_records_survive_a_round_trip() -> None:
    kept = Record(
        "rewind",
        "plan",
        "ab",
        3,
        "Ada",
        "2026-01-01T00:00:00Z",
        "cli",
        (Mark("plan", "ab", 3), Mark("implement", "", 0)),
    )
    assert approvals.read(approvals.render(kept)) == (kept,)
    assert json.loads(approvals.render(kept))["resets"][1]["step"] == "implement"


@pytest.mark.rule("MTX-04")
def test_rounds_of_two_steps_in_one_folder_are_told_apart() -> None:
    place = "reviews/integration/round-0"
    files = {
        f"{place}1/.dispatch-manifest.json": manifest("implement-gate", 1),
        f"{place}2/.dispatch-manifest.json": manifest("integrate", 2),
        f"{place}3/.dispatch-manifest.json": manifest("integrate", 3),
    }
    steps = derive(tree({"config.md": config()}, approved(*FULL), files)).steps
    rounds = {step.step: step.rounds for step in steps}
    assert (rounds["implement"], rounds["integrate"]) == (1, 2)


@pytest.mark.rule("ST-08")
@pytest.mark.parametrize("status", ["draft", "approved"])
def test_a_task_that_leaves_something_unsaid_is_a_warning_and_nothing_more(status: str) -> None:
    task = f"---\nstatus: {status}\nenforcement: x\n---\n# Task 1: A\n".encode()
    state = derive(tree({"config.md": config(), "tasks/task-01.md": task}))
    assert [item.message for item in state.warnings] == [
        "tasks/task-01.md: no allowed_files, constraints in its frontmatter"
    ]
    assert (state.next.action, state.errors) == ("author", ())


@pytest.mark.rule("LIV-03")
def test_counts_say_what_is_known() -> None:
    place, tags = "reviews/goals/round-01", ("quality-claude", "scope-claude")
    files = {"config.md": config(), "goals.md": artifact()}
    files[f"{place}/.dispatch-manifest.json"] = runs.manifest(tags=tags, body=artifact())
    counts = []
    for added in (
        {},
        {f"{place}/quality-claude.finding-F01.md": runs.finding()},
        {f"{place}/scope-claude.clean.md": runs.clean("scope-claude")},
        {f"{place}/quality-claude.finding-F01.score.yml": runs.score(20)},
    ):
        files |= added
        counts.append(derive(tree(files)).steps[0].counts)
    assert counts == ["0 of 2 answered", "1 of 2 answered", "1 to score", "0 kept, 1 dropped"]


@pytest.mark.rule("LIV-03")
def test_nothing_is_kept_while_a_file_is_faulty() -> None:
    place, tags = "reviews/goals/round-01", ("quality-claude", "scope-claude")
    files = {"config.md": config(), "goals.md": artifact()}
    files[f"{place}/.dispatch-manifest.json"] = runs.manifest(tags=tags, body=artifact())
    counts = []
    for added in (
        {f"{place}/quality-claude.finding-F01.md": b"no finding\n"},
        {f"{place}/scope-claude.finding-F01.md": runs.finding()},
        {f"{place}/scope-claude.finding-F01.score.yml": runs.score(90)},
    ):
        files |= added
        step = derive(tree(files)).steps[0]
        counts.append((step.stage, step.counts, step.kept))
    assert counts == [
        ("guarded", "1 of 2 answered", None),
        ("guarded", "1 to score", None),
        ("guarded", "", None),
    ]


@pytest.mark.rule("LIV-25", "OUT-07")
def test_nothing_has_failed_while_agents_are_awaited() -> None:
    """What is offered instead of waiting says what it does at that moment."""
    goals = runs.artifact()
    folder = "reviews/goals/round-01"
    files = {
        "config.md": runs.config("full"),
        "goals.md": goals,
        f"{folder}/.dispatch-manifest.json": runs.manifest("goals", body=goals),
    }
    review = derive(runs.tree(files)).next
    files[f"{folder}/quality-claude.clean.md"] = runs.clean()
    files[f"{folder}/scope-claude.finding-F01.md"] = runs.finding("scope-claude")
    verify = derive(runs.tree(files)).next
    stop = "leave everything as it is, for inspection"
    again = "take whoever has not answered as not sent yet"
    assert (review.kind, [option[:2] for option in review.options]) == (
        "review",
        [
            ("skip", "close this round without waiting for the rest; nothing found is scored"),
            ("retry", again),
            ("stop", stop),
        ],
    )
    assert (verify.kind, [option[:2] for option in verify.options]) == (
        "verify",
        [
            ("skip", "go on without scores for this round; every finding is kept"),
            ("retry", again),
            ("stop", stop),
        ],
    )
    assert verify.summary.endswith(
        f"in reviews/goals/round-01. `qrspi prompt {runs.RUN} "
        "verify-scope-claude.finding-F01` prints what to tell it."
    )
