from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.gates.checkpoints import checkpoint_request
from tests.checkpoints import request


@pytest.mark.rule("CK-03")
def test_the_ten_fields_and_the_checkpoint() -> None:
    found = checkpoint_request.read(request(3, "2 of 4", "YES (twice)", 55))
    assert found.fields == {
        "Checkpoint": "2 of 4",
        "Context Usage": "55%",
        "Self-Correction": "YES (twice)",
        "Deviations": "1 (low — a name)",
        "Agents Remaining": "2 (~5% each, ~10% total)",
        "Proposal": "docs/proposal.md",
        "Summary": "links are kept",
        "Files Modified": "2",
        "Tests": "passing (3 total, 1 new)",
        "Key Outputs": "- src/links.py (created)",
    }
    assert found[:5] == (2, 4, 3, 55.0, True)
    assert (found.deviations, found.complete) == ((), False)


LACKING = [
    ("", 11),
    ("Checkpoint: 1 of 2", 10),
    ("Checkpoint: 2\nReason: done", 10),
    ("Smoothness: 4", 10),
    ("Smoothness: 12/9", 11),
    ("Tests:\nSummary: x", 10),
]


@pytest.mark.rule("CK-03", "GTD-19")
@pytest.mark.parametrize(("text", "count"), LACKING)
def test_what_is_missing_is_noted(text: str, count: int) -> None:
    assert len(checkpoint_request.read(text).deviations) == count


@pytest.mark.rule("CK-03")
def test_each_missing_field_is_named() -> None:
    text = request().replace("  Tests: passing (3 total, 1 new)\n", "").replace("Key Out", "Out")
    assert checkpoint_request.read(text).deviations == (
        "Tests is missing",
        "Reason or Key Outputs is missing",
    )


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("REVIEW REQUEST (Smoothness: 3/9):", 3),
        ("smoothness: 7 / 9", 7),
        ("REVIEW REQUEST (Smoothness: 2/9):\nSmoothness: 6", 6),
        ("Smoothness: {X}/9", None),
        ("Smoothness: 10", None),
        ("Smoothness: 3.5", None),
        ("Smoothness: ٣", None),
    ],
)
def test_of_two_scores_the_rougher_counts(text: str, score: int | None) -> None:
    assert checkpoint_request.read(text).smoothness == score


def test_the_last_checkpoint_completes_a_task() -> None:
    assert checkpoint_request.read(request(checkpoint="3 of 3")).complete


@given(st.text())
def test_any_text_is_a_request(text: str) -> None:
    found = checkpoint_request.read(text)
    assert found.smoothness is None or 0 <= found.smoothness <= 9
