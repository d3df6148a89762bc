"""Reading at a glance: where it answers at all, the careful readers answer the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.filenames import FindingName, SidecarName
from qrspi.core.findings import exact_shape, finding
from qrspi.core.findings import score as sidecars
from qrspi.core.findings.submission import Notes, Place, Submission, receive
from qrspi.core.pipeline import subject
from tests import runs

PLAN = subject("plan")
assert PLAN is not None
TAG = "quality-claude"
NAME = FindingName(TAG, 1)
SCORE = SidecarName(f"{TAG}.finding-F01", "score.yml")


def submitted(text: str, notes: Notes) -> Submission | None:
    assert PLAN is not None
    return receive("x.md", text.encode(), Place(PLAN, 3), notes.about("x.md"))


# Each line as it is told, or as somebody might write it instead.
FIELDS: dict[str, tuple[str, ...]] = {
    "finding_id": (
        "R3-F01",
        "R03-F01",
        "R2-F01",
        "F01",
        '"R3-F01"',
        "R3-F01 ",
        "R3-F1",
        "R3-bypass-1",
    ),
    "severity": ("low", "high", "medium", "Low", "'low'", "critical", "low # x"),
    "change_type": ("style", "intent", "scope", "typo", ""),
    "referenced_files": (
        "[plan.md:L3]",
        "[plan.md:L3-L9, tasks/task-01.md:4]",
        "[plan.md:L9-L3]",
        "[plan.md:L0]",
        "[plan.md]",
        "[]",
        "plan.md:L3",
        "[plan.md:L3,design.md:L1]",
        "[feedback/plan-round-01.md:L3]",
        "[ plan.md:L3 ]",
        "['plan.md:L3']",
        "[plan.md:L3, ]",
        "[../../x:L3]",
        "[plan.md:L3: x]",
        "[plan.md:L3 #, x:L1]",
    ),
    "artifact": ("plan", "design", "null", "", "Plan"),
    "round": ("3", "03", "2", "'3'", "three"),
    "reviewer": (TAG, "claude", "scope-claude", f'"{TAG}"', ""),
    "actual_model": ("some-model", "a/b-1.2", "a: b", "unknown", '"x"', "x # y", ""),
    "extra": ("1",),
}
BODIES = st.sampled_from(
    [
        "The text.\n",
        "\n\nThe text.  \n\nMore.\n",
        "",
        "   \n",
        "finding_id: R3-F02\n",
        "---\nfinding_id: R3-F02\n---\nAnother.\n",
        "id: x\n",
        "See feedback/plan-round-01.md.\n",
        "Naïve — text.\n",
        "findings are plain\n",
        "A\x0bB\n",
    ]
) | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30).map("{}\n".format)
USUAL = (
    "finding_id",
    "severity",
    "change_type",
    "referenced_files",
    "artifact",
    "round",
    "reviewer",
)
KEYS = st.just(USUAL) | st.just((*USUAL, "actual_model")) | st.permutations(list(FIELDS))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Mostly as it is told: the first value of each field."""
    lines = ["---"]
    for key in draw(KEYS):
        values = FIELDS[key]
        odd = draw(st.integers(0, 9)) == 0
        lines.append(f"{key}: {draw(st.sampled_from(values)) if odd else values[0]}")
    end = draw(st.sampled_from(["---", "---", "---", "--- ", "----"]))
    text = "\n".join([*lines, end, draw(BODIES)])
    return draw(st.sampled_from([text, text, text, text.replace("\n", "\r\n"), "\ufeff" + text]))


@pytest.mark.rule("FND-01", "GRD-03")
@given(texts())
def test_a_finding_reads_the_same_with_care(text: str) -> None:
    notes = Notes(strict=True)
    submission = submitted(text, notes)
    if submission is None or notes.violations:
        return
    glance = exact_shape.finding(submission, NAME)
    notes.warnings.clear()
    if glance is not None:
        assert finding.read(submission, NAME) == glance
        assert (notes.violations, notes.warnings) == ([], [])


SCORES = st.sampled_from(["90", "0", "100", "101", "070", "7e1", "VERIFY_FAILED", "-1", "", "1000"])
REASONS = st.sampled_from(
    [
        "Because.",
        "a: b",
        "it's so",
        "x # y",
        "trailing ",
        '"q"',
        "null",
        "a\tb",
        "[x]",
        "a {b} c",
        "",
    ]
) | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)


@pytest.mark.rule("FND-05")
@given(SCORES, REASONS, st.sampled_from(["", "actual_model: m-1\n", "x: 1\n"]))
def test_a_score_reads_the_same_with_care(score: str, reason: str, more: str) -> None:
    notes = Notes(strict=True)
    submission = submitted(f"score: {score}\nreason: {reason}\n{more}", notes)
    if submission is None or notes.violations:
        return
    glance = exact_shape.sidecar(submission, SCORE)
    notes.warnings.clear()
    if glance is not None:
        assert sidecars.read(submission, SCORE) == glance
        assert (notes.violations, notes.warnings) == ([], [])


def test_what_reviewers_are_told_to_write_is_read_at_a_glance() -> None:
    """Or the speed of a round would be gone without anybody noticing."""
    told = runs.finding(TAG, round=3, step="plan", cites="plan.md:L3-L9, tasks/task-01.md:L4")
    submission = submitted(told.decode(), Notes())
    assert submission and exact_shape.finding(submission, NAME)
    score = submitted(runs.score(85).decode(), Notes())
    assert score and exact_shape.sidecar(score, SCORE)
