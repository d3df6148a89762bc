"""Skip tags, rubric, cache, reviewer, suppression: in this order."""

from __future__ import annotations

import pytest

from qrspi.core.gates.quality import judgement as judgements
from qrspi.core.gates.quality.judgement import Judgement, Mode, NeedsReviewer
from qrspi.core.gates.quality.verdict_line import Line
from qrspi.core.text import findings_block
from tests.task_texts import CONTEXT, CRITERIA, NOW, PLAN, PROJECT, reply, spec, task

OLD, WEEK = "2026-05-15T09:30:00Z", "2026-05-22T09:30:00Z"
HASH = spec().hash
PASS = f"PASS hash={HASH} @{OLD} v1"
STALE = f"PASS hash=00000000 @{OLD} v1"
VAGUE = f"NEEDS_REFINEMENT hash={HASH} @{OLD} v1 axes=goal"
FROZEN = f"NEEDS_REFINEMENT hash=00000000 @{OLD} v1 axes=goal suppressed-until={WEEK}"
THAWED = f"NEEDS_REFINEMENT hash={HASH} @2026-05-01T00:00:00Z v1 axes=goal suppressed-until=" + (
    "2026-05-08T00:00:00Z"
)
ALL: tuple[Mode, ...] = ("cache-only", "live", "live-cache-aware")


def look(mode: Mode = "cache-only", line: str = "", **more: str) -> Judgement | NeedsReviewer:
    found = spec(quality_verdict=line, **more)
    return judgements.before_reviewer(found, mode, PROJECT, NOW)


def verdict(mode: Mode, line: str, **more: str) -> str:
    found = look(mode, line, **more)
    return found.verdict if isinstance(found, Judgement) else "asks"


@pytest.mark.rule("QV-05", "QV-06")
@pytest.mark.parametrize(
    ("line", "cache_only", "live", "aware"),
    [
        ("", "UNREVIEWED", "asks", "asks"),
        (PASS, "PASS", "asks", "PASS"),
        (STALE, "UNREVIEWED", "asks", "asks"),
        (VAGUE, "NEEDS_REFINEMENT", "asks", "asks"),
        (FROZEN, "NEEDS_REFINEMENT", "asks", "NEEDS_REFINEMENT"),
        (THAWED, "NEEDS_REFINEMENT", "asks", "asks"),
        ("PASS, I would say", "UNREVIEWED", "asks", "asks"),
        (PASS.replace("v1", "v2"), "UNREVIEWED", "asks", "asks"),
    ],
    ids=["none", "pass", "stale", "vague", "frozen", "thawed", "malformed", "newer"],
)
def test_what_each_mode_makes_of_an_earlier_verdict(
    line: str, cache_only: str, live: str, aware: str
) -> None:
    assert [verdict(mode, line) for mode in ALL] == [cache_only, live, aware]


@pytest.mark.rule("QV-05", "QV-12")
def test_what_is_not_reviewed_has_no_line() -> None:
    found = look("cache-only", STALE)
    assert isinstance(found, Judgement)
    assert (found.verdict_string, found.hash, found.cached_at) == ("", HASH, None)
    assert found.because == "its text has changed since it was reviewed"


@pytest.mark.rule("QV-06")
def test_a_frozen_verdict_says_until_when() -> None:
    found = look("cache-only", FROZEN)
    assert isinstance(found, Judgement)
    assert (found.suppressed_until, found.verdict_string) == (WEEK, FROZEN)
    thawed = look("cache-only", THAWED)
    assert isinstance(thawed, Judgement) and thawed.suppressed_until is None


@pytest.mark.rule("QV-00", "QV-03")
@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize("line", ["", PASS, FROZEN])
def test_the_rubric_wins_over_whatever_was_said(mode: Mode, line: str) -> None:
    found = look(mode, line, working_directory="")
    assert isinstance(found, Judgement)
    assert (found.verdict, found.source, found.is_new) == ("REJECT", "rubric", True)
    assert found.verdict_string == f"REJECT hash={HASH} @{NOW} v1 axes=R-EP4"
    assert found.gaps[0].startswith("R-EP4: no working_directory")


@pytest.mark.rule("GTD-04")
def test_the_same_rejection_is_not_written_again() -> None:
    line = f"REJECT hash={HASH} @{OLD} v1 axes=R-EP4"
    found = look("live", line, working_directory="")
    assert isinstance(found, Judgement)
    assert (found.is_new, found.verdict_string, found.cached_at) == (False, line, None)
    other = look("live", line.replace("R-EP4", "R-AC1"), working_directory="")
    assert isinstance(other, Judgement) and other.is_new


@pytest.mark.rule("QV-03")
@pytest.mark.parametrize("mode", ALL)
def test_warnings_go_with_whatever_is_said(mode: Mode) -> None:
    plan = "\n".join(f"{at}. Write the dictionary from token to member" for at in (1, 2, 3))
    found = look(mode, plan=plan)
    assert [text.partition(":")[0] for text in found.warnings] == ["R-EP3"]


TAG = "worthiness:info-only"


@pytest.mark.rule("QV-08", "GTD-15")
@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize(
    ("line", "string"),
    [
        ("", f"PASS hash={{hash}} @{NOW} v1"),
        (STALE, f"PASS hash={{hash}} @{NOW} v1"),
        (VAGUE, f"PASS hash={{hash}} @{NOW} v1"),
    ],
)
def test_a_tagged_task_passes_and_nothing_is_written(mode: Mode, line: str, string: str) -> None:
    found = look(mode, line, tags=TAG, criteria="", plan="", working_directory="")
    assert isinstance(found, Judgement)
    assert (found.verdict, found.is_new, found.cached_at) == ("PASS", False, None)
    assert found.verdict_string == string.format(hash=found.hash)


@pytest.mark.rule("QV-08", "GTD-15")
def test_a_tagged_task_keeps_the_line_of_a_pass() -> None:
    found = look("live", PASS, tags=TAG)
    assert isinstance(found, Judgement) and found.verdict_string == PASS


@pytest.mark.rule("QV-08")
@pytest.mark.parametrize("part", ["criteria", "plan"])
def test_a_tagged_task_must_be_finished(part: str) -> None:
    found = look("cache-only", tags=TAG, **{part: "[NEEDS-REFINE]"})
    assert isinstance(found, Judgement)
    assert (found.verdict, found.is_new) == ("REJECT", True)


@pytest.mark.rule("GTD-14")
@pytest.mark.parametrize("mode", ALL)
def test_a_task_without_sections_is_not_judged(mode: Mode) -> None:
    found = look(mode, description="", criteria="", plan="")
    assert isinstance(found, Judgement)
    assert (found.verdict, found.gaps) == (
        "UNREVIEWED",
        ("the task has no Description, no Acceptance Criteria and no Execution Plan",),
    )


@pytest.mark.rule("QV-04", "QV-12")
def test_a_reviewers_verdict() -> None:
    found = judgements.by_reviewer(spec(), reply(boundary="△"), NOW, None, ("w",))
    assert found.verdict_string == f"NEEDS_REFINEMENT hash={HASH} @{NOW} v1 axes=boundary"
    assert (found.cached_at, found.suppressed_until) == (NOW, None)
    assert found.per_axis and found.per_axis["boundary"] == "△"
    assert (found.gaps, found.fixes, found.warnings) == (("a gap",), ("a fix",), ("w",))
    assert found.block == (
        f"--- Quality Review Findings hash={HASH} @{NOW} ---\nGaps:\n- a gap\nSuggested fixes:\n"
        "- a fix\n--- End Quality Review Findings ---"
    )


@pytest.mark.rule("QV-07")
def test_the_second_failure_on_an_axis_freezes() -> None:
    before = Line("REJECT", "00000000", OLD, ("boundary",))
    found = judgements.by_reviewer(spec(), reply(boundary="△"), NOW, before)
    assert found.suppressed_until == "2026-05-24T09:30:00Z"
    assert found.verdict_string.endswith(" axes=boundary suppressed-until=2026-05-24T09:30:00Z")


@pytest.mark.rule("QV-04")
def test_a_malformed_answer_is_not_kept() -> None:
    found = judgements.by_reviewer(spec(), "Looks good to me!", NOW, None)
    assert (found.verdict, found.verdict_string, found.is_new) == ("NEEDS_REFINEMENT", "", False)
    assert (found.block, found.cached_at) == (None, None)
    assert found.gaps[0].startswith("the reviewer's answer cannot be used: the answer has no line")


@pytest.mark.rule("QV-04")
def test_too_little_context_is_kept() -> None:
    found = judgements.by_reviewer(spec(), "## Verdict: INSUFFICIENT_CONTEXT\n", NOW, None)
    assert (found.verdict, found.is_new) == ("NEEDS_REFINEMENT", True)
    assert found.verdict_string == f"NEEDS_REFINEMENT hash={HASH} @{NOW} v1"


def write(data: bytes, found: Judgement) -> bytes:
    changed = judgements.written(data, found, "tasks/task-01.md")
    assert isinstance(changed, bytes)
    return changed


@pytest.mark.rule("QV-02", "QV-09")
def test_a_verdict_is_put_into_the_task_and_a_pass_takes_the_findings_out() -> None:
    bad = judgements.by_reviewer(spec(), reply(boundary="△"), NOW, None)
    good = judgements.by_reviewer(spec(), reply(), NOW, None)
    vague = write(task(), bad)
    context = f"{CONTEXT}\n{bad.block}"
    assert vague == task(context=context, quality_verdict=bad.verdict_string)
    assert write(vague, good) == task(quality_verdict=good.verdict_string)
    assert judgements.cleared(vague, "") == task()


@pytest.mark.rule("QV-09")
def test_without_a_context_the_verdict_alone_is_kept() -> None:
    bad = judgements.by_reviewer(spec(), reply(boundary="△"), NOW, None)
    found = write(task(context=""), bad)
    assert found == task(context="", quality_verdict=bad.verdict_string)


@pytest.mark.rule("QV-09")
@pytest.mark.parametrize(("hash", "gaps"), [(HASH, ("a gap",)), ("00000000", ())])
def test_findings_are_read_back_with_their_verdict_only(hash: str, gaps: tuple[str, ...]) -> None:
    block = findings_block.render(findings_block.Block(hash, OLD, ("a gap",), ("a fix",)))
    found = look("cache-only", VAGUE, context=f"{CONTEXT}\n{block}")
    assert isinstance(found, Judgement)
    assert (found.gaps, found.fixes) == (gaps, ("a fix",) if gaps else ())


@pytest.mark.rule("QV-03")
def test_a_rejection_by_the_rubric_is_written_as_gaps_by_rule() -> None:
    found = look("live", criteria=f"{CRITERIA}\n[DRAFT-AC]", plan=f"{PLAN} [DRAFT-EP]")
    assert isinstance(found, Judgement) and found.block
    assert [line for line in found.block.splitlines() if line.startswith("- ")] == [
        "- R-AC4: the acceptance criteria still have [DRAFT-AC]",
        "- R-EP5: the execution plan still has [DRAFT-EP]",
    ]
