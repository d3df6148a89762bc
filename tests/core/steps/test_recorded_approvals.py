"""An approval is what a record says of the very text that is there."""

from __future__ import annotations

import pytest

from qrspi.core.config import reader as configs
from qrspi.core.derivation import brief, waiting
from qrspi.core.derivation.derive import derive, survey
from qrspi.core.model import RunState
from qrspi.core.pipeline import STEP
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import permits
from qrspi.core.steps.facts import gather
from tests.runs import RUN, artifact, config, text_hash, tree

TEXT = artifact("approved")
OTHER = artifact("approved", "# Text\n\nAnother word.\n")
WAY_OUT = f"it counts as a draft; `qrspi unapprove {RUN} goals` makes it one"


def record(
    event: str = "approve", body: bytes = TEXT, step: str = "goals", surface: str = "cli"
) -> bytes:
    mark = Mark(step, text_hash(body, STEP[step].artifact), 1)
    resets = (mark,) if event == "rewind" else ()
    return approvals.render(
        Record(event, *mark, who="Ada", when="2026-05-17T09:30:00Z", surface=surface, resets=resets)
    )


def state(
    log: bytes = b"", goals: bytes = TEXT, *, in_git: bool = False, **fields: str
) -> RunState:
    files = {"config.md": config(**fields), "goals.md": goals}
    return derive(tree(files, {"approvals.jsonl": log} if log else {}, in_git=in_git))


@pytest.mark.rule("LIV-08")
@pytest.mark.parametrize(
    ("log", "why"),
    [
        (b"", "nobody approved it"),
        (record(step="design"), "nobody approved it"),
        (record() + record("unapprove"), "nobody approved it"),
        (record() + record("reject"), "nobody approved it"),
        (record() + record("rewind"), "nobody approved it"),
        (record(body=OTHER), "Ada approved another text on 2026-05-17"),
    ],
)
def test_a_text_without_its_record_is_a_draft_that_says_so(log: bytes, why: str) -> None:
    found = state(log, approvals="recorded")
    claims = [item.message for item in found.warnings if item.code == "claims-approval"]
    assert (found.current_step, found.steps[0].status) == ("goals", "draft")
    assert (found.steps[0].approval, found.steps[0].standing) == (
        "claimed",
        "draft, says approved",
    )
    assert claims == [f"goals.md says approved, but {why}: {WAY_OUT}"]


@pytest.mark.rule("LIV-08")
@pytest.mark.parametrize("log", [record(), record("reject") + record(), record(surface="cascade")])
def test_a_text_with_its_record_is_approved(log: bytes) -> None:
    found = state(log, approvals="recorded")
    assert (found.current_step, found.steps[0].status) == ("questions", "approved")
    assert found.warnings == ()


@pytest.mark.rule("LIV-08")
def test_a_step_outside_the_route_needs_its_record_too() -> None:
    route = "[goals, plan]"
    files = {"goals.md": TEXT, "research/summary.md": artifact("approved"), "plan.md": TEXT}
    files["config.md"] = config("quick", route=route, approvals="recorded")
    files["approvals.jsonl"] = record()
    found = derive(tree(files))
    assert (found.current_step, found.next.missing) == ("plan", ("research/summary.md",))


@pytest.mark.rule("LIV-08")
def test_an_older_run_goes_on_and_is_warned_about() -> None:
    found = state()
    assert (found.current_step, found.steps[0].approval) == ("questions", "unrecorded")
    assert [(item.code, item.message) for item in found.warnings] == [
        (
            "approved-without-record",
            "goals.md says approved, and no record says who approved; "
            f"`qrspi log {RUN}` shows what is on record",
        )
    ]


@pytest.mark.rule("LIV-08")
def test_a_claim_waits_in_the_inbox_and_stands_in_the_brief() -> None:
    found = state(approvals="recorded")
    said = f"goals.md says approved, but nobody approved it: {WAY_OUT}"
    assert waiting.items([found]) == (
        waiting.Item(RUN, "approve", "goals", 0, f"{said}.", f"qrspi unapprove {RUN} goals"),
    )
    files = {"config.md": config(approvals="recorded"), "goals.md": TEXT}
    page = brief.page(survey(tree(files), thorough=True), 4000).text
    assert f"- {said}\n" in page
    assert "- goals: draft, says approved\n" in page


@pytest.mark.rule("LIV-08", "LIV-02")
def test_a_claim_can_be_made_the_draft_that_it_is() -> None:
    settings = configs.read(config(approvals="recorded"))
    assert settings.route
    view = tree({"config.md": config(approvals="recorded"), "goals.md": TEXT})
    facts = gather(view, settings, settings.route)[0]._replace(step="goals")
    assert permits.unapprove(facts, "goals") is None


@pytest.mark.rule("LIV-09")
def test_who_approved_is_told() -> None:
    log = record() + record(step="questions", surface="cascade")
    files = {"config.md": config("quick", approvals="recorded"), "approvals.jsonl": log}
    files |= {"goals.md": TEXT, "questions.md": TEXT}
    steps = derive(tree(files)).steps
    assert [(step.approval, step.standing) for step in steps[:3]] == [
        ("person", "approved"),
        ("engine", "approved by the engine"),
        (None, "missing"),
    ]


@pytest.mark.rule("LIV-09")
@pytest.mark.parametrize(
    ("log", "objected"),
    [
        (b"", False),
        (record(), False),
        (record("reject"), True),
        (record("unapprove"), True),
        (record("rewind"), True),
        (record("phase"), False),
        (record("reject") + record(surface="cascade"), True),
        (record("reject") + record(), False),
        (record("reject", step="plan"), False),
    ],
)
def test_an_objection_stands_until_a_person_approves(log: bytes, objected: bool) -> None:
    records = approvals.read(log)
    assert isinstance(records, tuple)
    assert approvals.is_objected_to(records, "goals") is objected


SHOW = f"`qrspi show {RUN} goals --since-approval` shows how, "


@pytest.mark.rule("LIV-08", "APV-02", "LIV-02")
@pytest.mark.parametrize(("in_git", "show"), [(True, SHOW), (False, "")])
def test_an_edit_after_approval_names_the_way_out(in_git: bool, show: str) -> None:
    found = state(record(body=OTHER), in_git=in_git)
    assert [(item.code, item.message, item.hint) for item in found.warnings] == [
        (
            "edited-after-approval",
            f"goals.md changed after it was approved; {show}`qrspi unapprove {RUN} goals` makes it "
            "a draft again",
            f"qrspi unapprove {RUN} goals",
        )
    ]
    assert [item.command for item in waiting.items([found])] == [f"qrspi unapprove {RUN} goals"]
