from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.quality import reviewer_reply
from qrspi.core.gates.quality.reviewer_reply import Malformed, ReviewerReply
from tests.task_texts import reply

ALL_GOOD = {
    "goal": "◯",
    "boundary": "◯",
    "verifiability": "◯",
    "reproducibility": "◯",
    "hidden_context": "◯",
}


@pytest.mark.rule("QV-04")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (reply(), ReviewerReply("PASS", ALL_GOOD)),
        (
            reply(boundary="△"),
            ReviewerReply(
                "NEEDS_REFINEMENT", {**ALL_GOOD, "boundary": "△"}, ("a gap",), ("a fix",)
            ),
        ),
        (
            reply(boundary="△", goal="✗"),
            ReviewerReply(
                "REJECT", {**ALL_GOOD, "boundary": "△", "goal": "✗"}, ("a gap",), ("a fix",)
            ),
        ),
    ],
    ids=["pass", "refine", "reject"],
)
def test_the_axes_make_the_verdict(text: str, expected: ReviewerReply) -> None:
    assert reviewer_reply.read(text) == expected


@pytest.mark.rule("QV-04")
@pytest.mark.parametrize("said", ["PASS", "REJECT", "NEEDS_REFINEMENT"])
def test_the_axes_decide_when_the_verdict_says_otherwise(said: str) -> None:
    found = reviewer_reply.read(reply(said, goal="△"))
    assert isinstance(found, ReviewerReply)
    assert (found.verdict, found.failing) == ("NEEDS_REFINEMENT", ("goal",))


@pytest.mark.rule("QV-04", "GTD-11")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Verdict: PASS", "## Verdict: **PASS** (nothing to add)"),
        ("## Per-axis findings", "## Per-axis findings (five)"),
        ("- goal: ◯ — so.", "- **Goal**: ○ so."),
        ("- goal: ◯ — so.", "* GOAL: ◯"),
        ("- hidden context: ◯", "- Hidden-Context: ◯"),
        ("- goal: ◯ — so.", "- goal (what for): ◯\ufe0f — so."),
    ],
)
def test_how_else_it_may_be_written(old: str, new: str) -> None:
    assert old in reply()
    assert reviewer_reply.read(reply().replace(old, new)) == ReviewerReply("PASS", ALL_GOOD)


@pytest.mark.rule("GTD-11")
@pytest.mark.parametrize("mark", ["×", "✕", "✗"])
def test_look_alikes_of_a_cross(mark: str) -> None:
    found = reviewer_reply.read(reply("REJECT", goal=mark))
    assert isinstance(found, ReviewerReply) and found.verdict == "REJECT"


@pytest.mark.rule("QV-04", "GTD-11")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "",
            "the answer has no line "
            "`## Verdict: PASS|NEEDS_REFINEMENT|REJECT|INSUFFICIENT_CONTEXT`",
        ),
        (
            reply("MAYBE"),
            "the answer says 'Verdict: MAYBE', expected "
            "`## Verdict: PASS|NEEDS_REFINEMENT|REJECT|INSUFFICIENT_CONTEXT`",
        ),
        (reply() + reply(), "the answer has 2 verdicts (PASS, PASS), expected one"),
        (reply().replace("- goal: ◯ — so.\n", ""), "the answer does not judge goal"),
        (reply() + "\n## Per-axis findings\n- goal: ◯\n", "the answer judges goal twice"),
        (reply(goal="?"), "the mark of goal is '?', expected ◯, △ or ✗"),
        (reply(goal="OK"), "the mark of goal is 'O', expected ◯, △ or ✗"),
    ],
)
def test_an_answer_that_decides_nothing(text: str, why: str) -> None:
    assert reviewer_reply.read(text) == Malformed(why)


@pytest.mark.rule("QV-04", "GTD-11")
def test_too_little_context_needs_refinement_and_may_lack_axes() -> None:
    text = "## Verdict: INSUFFICIENT_CONTEXT\n\n## Specific gaps\n- no plan was given\n"
    assert reviewer_reply.read(text) == ReviewerReply(
        "NEEDS_REFINEMENT", {}, ("no plan was given",)
    )


def test_gaps_are_a_line_each_and_none_is_none() -> None:
    found = reviewer_reply.read(reply(goal="△", gaps="- one\n  goes on\n\n1. two", fixes="- none"))
    assert isinstance(found, ReviewerReply)
    assert (found.gaps, found.fixes) == (("one goes on", "two"), ())


def test_who_names_no_gap_has_said_something_about_the_axis() -> None:
    found = reviewer_reply.read(reply(goal="△", gaps="- none"))
    assert isinstance(found, ReviewerReply) and found.gaps == ("goal: so.",)


@given(st.text())
def test_any_answer_is_read_or_malformed(text: str) -> None:
    found = reviewer_reply.read(text)
    assert isinstance(found, Malformed | ReviewerReply)


@given(st.text(), st.text())
def test_nothing_unprintable_comes_out_of_an_answer(gap: str, fix: str) -> None:
    found = reviewer_reply.read(reply(goal="✗", gaps=f"- {gap}", fixes=f"- {fix}"))
    if isinstance(found, ReviewerReply):
        assert all(text.isprintable() for text in (*found.gaps, *found.fixes))
