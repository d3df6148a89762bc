"""What may be decided about a step now, and the line that says why not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.model import Next, Problem
from qrspi.core.pipeline import ROUTES
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.steps import permits
from qrspi.core.steps.facts import Facts
from tests.core.rounds.test_loop import CLEAN, ROUND, SCORED, opened, with_engine_files
from tests.runs import RUN, approved, artifact, config, finding, text_hash, tree

FULL, QUICK = ROUTES["full"], ROUTES["quick"]


def look(files: Mapping[str, bytes]) -> tuple[Survey, Facts]:
    found = survey(tree(files))
    assert found.facts is not None
    return found, found.facts


def said(problem: Problem | str | None) -> str:
    return problem.message if isinstance(problem, Problem) else str(problem)


@pytest.mark.rule("IMP-10")
@pytest.mark.parametrize(("action", "allowed"), [("dispatch-tasks", False), ("approve", True)])
def test_one_task_done_is_not_the_batch_done(action: str, allowed: bool) -> None:
    files = {
        "config.md": config("quick", review_depth="quick", review_mode="loop"),
        **approved(*QUICK[:4]),
        "tasks/task-01.md": artifact("approved"),
        "implementation.md": artifact(),
    }
    _, facts = look(files)
    answer = Next(action, "agent", "Work.", (), step="implement")  # type: ignore[arg-type]
    problem = permits.approve(facts, answer, "implement", "cli")
    line = "implement is not ready to be approved: next is the work on tasks"
    assert said(problem) == ("None" if allowed else line)


@pytest.mark.rule("REJ-01")
@pytest.mark.parametrize(
    ("files", "step", "line"),
    [
        ({"goals.md": artifact()}, "goals", "None"),
        ({}, "goals", "goals.md does not exist: next is to write goals"),
        (
            approved("goals"),
            "goals",
            "goals.md is approved: to reject it, go back to it first",
        ),
        (
            {"goals.md": artifact(), "design.md": artifact()},
            "design",
            "design is not the current step, the run is at goals: next is to open goals round 1",
        ),
        ({}, "ux", f"ux is no part of this run's route: {', '.join(FULL)}"),
    ],
)
def test_only_the_text_that_waits_is_rejected(
    files: dict[str, bytes], step: str, line: str
) -> None:
    found, facts = look({"config.md": config()} | files)
    assert said(permits.reject(facts, found.state.next, step)) == line


DRAFT = {"config.md": config(), "goals.md": artifact()}
SHORT = config(route="[goals, design, plan, parallelize, implement, test]")
REPLANNED = {"config.md": config(), **approved(*FULL), "plan.md": artifact("replan-draft")}
MARKER = {"replan-pending.md": b"---\nphase: 1\n---\n"}
OTHER = approvals.render(Record("approve", "goals", text_hash(artifact(body="Other.\n")), 1))


@pytest.mark.rule("APR-01", "APV-01")
@pytest.mark.parametrize(
    ("files", "step", "surface", "line"),
    [
        (DRAFT, "goals", "cli", "None"),
        (DRAFT, "goals", "mcp", "goals is approved by a person, not through mcp"),
        (DRAFT, "replan", "cli", f"replan is no part of this run's route: {', '.join(FULL)}"),
        (
            DRAFT | approved("goals"),
            "goals",
            "cli",
            "goals.md is approved already: next is to write questions",
        ),
        (
            DRAFT | approved(*FULL),
            "test",
            "cli",
            "test-results.md is approved already: the run is complete",
        ),
        (
            DRAFT | approved("goals") | {approvals.FILE: OTHER},
            "goals",
            "cli",
            "goals.md was approved with another text: take that back first, with "
            f"`qrspi unapprove {RUN} goals`",
        ),
        (
            DRAFT | {"goals.md": b"---\nstatus: draft\nstatus: draft\n---\n"},
            "goals",
            "cli",
            "goals.md:3:1: repeated key 'status'; correct it first",
        ),
        (
            {
                "config.md": SHORT,
                **approved("goals", "design", "plan"),
                "parallelization.md": artifact(),
            },
            "parallelize",
            "cli",
            "parallelize cannot be approved: approve phasing.md, tasks/task-01.md first",
        ),
        (REPLANNED | MARKER, "plan", "cli", "None"),
        (
            REPLANNED | MARKER | {"goals.md": artifact()},
            "plan",
            "cli",
            "plan is not the current step, the run is at goals: next is to open goals round 1",
        ),
    ],
    ids="waits surface route twice end other broken needs replanned earlier".split(),
)
def test_only_the_text_that_waits_is_approved(
    files: dict[str, bytes], step: str, surface: str, line: str
) -> None:
    found, facts = look(files)
    assert said(permits.approve(facts, found.state.next, step, surface)) == line


@pytest.mark.rule("ST-09")
def test_nothing_is_approved_with_a_setting_that_cannot_be_read() -> None:
    found, facts = look(DRAFT | {"config.md": config(second_reviewer="maybe")})
    problem = permits.approve(facts, found.state.next, "goals", "cli")
    assert problem is not None and problem.field == "second_reviewer"


@pytest.mark.rule("RP-05")
@pytest.mark.parametrize(("files", "line"), [(MARKER, "replan.md does not exist"), ({}, "replan")])
def test_a_replan_is_approved_only_where_one_is_due(files: dict[str, bytes], line: str) -> None:
    found, facts = look({"config.md": config(), **approved(*FULL), **files})
    problem = permits.approve(facts, found.state.next, "replan", "cli")
    assert said(problem).startswith(line)


@pytest.mark.rule("APR-05")
def test_only_what_is_approved_is_unapproved() -> None:
    _, facts = look({"config.md": config("quick"), **approved("goals", "questions")})
    assert permits.unapprove(facts, "goals") is None
    assert said(permits.unapprove(facts, "plan")) == (
        "plan.md is missing, not approved; approved steps: goals, questions"
    )


@pytest.mark.rule("APR-05")
@pytest.mark.parametrize(
    ("step", "built"),
    [
        ("goals", ("questions", "research", "design", "plan")),
        ("research", ("design", "plan")),
        ("design", ("plan",)),
        ("plan", ()),
    ],
)
def test_what_was_built_on_a_step(step: str, built: tuple[str, ...]) -> None:
    steps = approved("goals", "questions", "research", "design")
    _, facts = look({"config.md": config(), **steps, "plan.md": artifact()})
    assert permits.dependents(facts, step) == built


OPEN_QUESTIONS = {"questions.md": artifact()}


@pytest.mark.rule("BWL-01")
@pytest.mark.parametrize(
    ("files", "target", "line", "reset"),
    [
        (approved("goals", "questions"), "goals", "None", ("goals", "questions")),
        (approved("goals", "questions"), "questions", "None", ("questions",)),
        # an approval behind the step that the run is at goes too
        (approved("goals", "plan") | OPEN_QUESTIONS, "goals", "None", ("goals", "plan")),
        (
            approved("goals"),
            "questions",
            "questions.md is missing, so there is nothing to go back to; the run is at questions; "
            "steps to go back to: goals",
            (),
        ),
        (
            approved("goals", "design"),
            "research",
            "research/summary.md is missing, so there is nothing to go back to; the run is at "
            "questions; steps to go back to: goals",
            ("design",),
        ),
        ({}, "ux", f"ux is no part of this run's route: {', '.join(FULL)}", None),
        (approved(*FULL), "test", "None", ("test",)),
    ],
)
def test_where_one_can_go_back_to(
    files: dict[str, bytes], target: str, line: str, reset: tuple[str, ...] | None
) -> None:
    _, facts = look({"config.md": config(), **files})
    assert said(permits.rewind(facts, target)) == line
    if reset is not None:
        assert permits.reset_by_rewind(facts, target) == reset


SCOPE = f"{ROUND}/scope-claude.finding-F01.md"
SECOND = f"{ROUND}/scope-claude.finding-F02.md"
PAUSED = with_engine_files(
    opened()
    | SCORED
    | {
        SCOPE: finding("scope-claude", kind="scope"),
        SECOND: finding("scope-claude", 2, kind="scope"),
    }
)
PAUSE_FILE = "reviews/goals-loop-pause-round-01.md"
HALF = PAUSED | {PAUSE_FILE: PAUSED[PAUSE_FILE].replace(b"F01: pending", b"F01: skip")}
NEXT_ROUND = {
    path.replace("round-01", "round-02"): data.replace(b"R1-", b"R2-")
    .replace(b"round: 1", b"round: 2")
    .replace(b'"round": 1', b'"round": 2')
    for path, data in PAUSED.items()
    if "round-01" in path
}
DECIDED = [
    ("paused", PAUSED, "scope-claude.R1-F01", "None"),
    (
        "twice",
        HALF,
        "scope-claude.R1-F01",
        "scope-claude.R1-F01: it is decided already: skip; undecided: scope-claude.R1-F02",
    ),
    (
        "kept by itself",
        PAUSED,
        "quality-claude.R1-F01",
        "quality-claude.R1-F01: nothing is to be decided about it, it was kept: score 90 reaches "
        "70 for correctness; undecided: scope-claude.R1-F01, scope-claude.R1-F02",
    ),
    (
        "unknown",
        PAUSED,
        "scope-claude.R1-F09",
        "scope-claude.R1-F09: there is no such finding in round 1 of goals; "
        "undecided: scope-claude.R1-F01, scope-claude.R1-F02",
    ),
    (
        "of a closed round",
        PAUSED | NEXT_ROUND,
        "scope-claude.R1-F01",
        "scope-claude.R1-F01: there is no such finding in round 2 of goals; "
        "undecided: scope-claude.R2-F01, scope-claude.R2-F02",
    ),
    (
        "nothing waits",
        with_engine_files(opened() | CLEAN),
        "scope-claude.R1-F01",
        "no finding waits for a decision: next is the approval of goals",
    ),
    (
        "no round",
        {"config.md": config(), "goals.md": artifact()},
        "scope-claude.R1-F01",
        "no finding waits for a decision: next is to open goals round 1",
    ),
    (
        "left by a loop back",
        PAUSED | {f"{ROUND}-backward-loop.flag": b""},
        "scope-claude.R1-F01",
        "no finding waits for a decision: next is to open goals round 2",
    ),
]


@pytest.mark.rule("PSE-04", "PSE-05")
@pytest.mark.parametrize(
    ("case", "files", "name", "line"), DECIDED, ids=[row[0] for row in DECIDED]
)
def test_only_what_waits_is_decided_and_only_once(
    case: str, files: dict[str, bytes], name: str, line: str
) -> None:
    found, _ = look(files)
    assert said(permits.decide(RUN, found.state.next, found.loop, name)) == line


def paused_design(cites: str, kind: str = "scope") -> tuple[Survey, Facts]:
    moved = {
        path.replace("goals", "design"): data.replace(b'"goals"', b'"design"').replace(
            b"artifact: goals", b"artifact: design"
        )
        for path, data in PAUSED.items()
        if path.startswith("reviews/")
    }
    moved["reviews/design/round-01/scope-claude.finding-F01.md"] = finding(
        "scope-claude", step="design", kind=kind, cites=cites
    )
    steps = approved("goals", "questions", "research")
    return look({"config.md": config(), "design.md": artifact(), **steps, **moved})


LOOP_BACKS = [
    ("one is cited", "goals.md:L7", None, "goals"),
    ("and another is said", "goals.md:L7", "research", "research"),
    (
        "several are cited",
        "research/summary.md:L1, goals.md:L7",
        None,
        "scope-claude.R1-F01 cites several earlier artifacts: say with --to where to go back to, "
        "one of goals, research",
    ),
    ("several, and one is said", "research/summary.md:L1, goals.md:L7", "research", "research"),
    (
        "none is cited",
        "design.md:L7",
        None,
        "scope-claude.R1-F01 cites no earlier artifact: say with --to where to go back to, "
        "one of goals, questions, research",
    ),
    (
        "a later one is said",
        "goals.md",
        "plan",
        "plan does not come before design; steps to go back to: goals, questions, research",
    ),
    (
        "its own is said",
        "goals.md",
        "design",
        "design does not come before design; steps to go back to: goals, questions, research",
    ),
]


@pytest.mark.rule("PSE-03")
@pytest.mark.parametrize(
    ("case", "cites", "to", "said_"), LOOP_BACKS, ids=[r[0] for r in LOOP_BACKS]
)
def test_where_a_loop_back_goes(case: str, cites: str, to: str | None, said_: str) -> None:
    found, facts = paused_design(cites)
    assert found.loop is not None
    assert said(permits.loop_back(facts, found.loop, "scope-claude.R1-F01", to)) == said_


@pytest.mark.rule("PSE-03")
def test_where_a_loop_back_may_go_is_offered() -> None:
    found, facts = paused_design("design.md:L7")
    assert found.loop is not None
    problem = permits.loop_back(facts, found.loop, "scope-claude.R1-F01", None)
    assert isinstance(problem, Problem)
    assert problem.options == ("--to goals", "--to questions", "--to research")


@pytest.mark.rule("PSE-03")
def test_the_first_step_has_none_to_loop_back_to() -> None:
    found, facts = look(PAUSED)
    assert found.loop is not None
    problem = permits.loop_back(facts, found.loop, "scope-claude.R1-F01", None)
    assert said(problem) == (
        "scope-claude.R1-F01 is about goals, the first step: it is applied or skipped"
    )


@pytest.mark.rule("PSE-03")
def test_the_menu_shows_the_targets_before_one_can_be_chosen() -> None:
    found, _ = paused_design("goals.md:L7")
    assert found.state.next.held[0].targets == ("goals",)
    assert found.state.next.held[1].targets == ("goals",)
    assert found.state.next.to_apply == 1


@pytest.mark.rule("PSE-02", "PSE-03")
def test_a_proposed_finding_is_not_looped_back() -> None:
    skip = {f"{ROUND}-verifier-disabled.md": b"---\nreason: x\n---\n"}
    unscored = {path: data for path, data in SCORED.items() if not path.endswith(".yml")}
    files = with_engine_files(opened() | unscored | skip)
    found, facts = look(files)
    assert found.loop is not None and found.state.next.held[0].verdict == "propose"
    problem = permits.loop_back(facts, found.loop, "quality-claude.R1-F01", "goals")
    assert said(problem) == (
        "quality-claude.R1-F01 is proposed, not paused: it is applied or skipped"
    )
    assert isinstance(problem, Problem)
    assert problem.hint == f"qrspi decide {RUN} quality-claude.R1-F01 apply"
