"""The smoothness scale: from 0, nothing went wrong, to 9, it cannot be done like this."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["approve", "revision", "reject"]

MEANING = (
    "Perfect execution",
    "Near-perfect",
    "Minor bumps",
    "Some friction",
    "Noticeable deviations",
    "Significant issues",
    "Multiple problems",
    "Major blockers",
    "Near-failure",
    "Failed/incomplete",
)
ROUGHEST = len(MEANING) - 1
READ_FIRST = 5  # approved only after the proposal was read
_REVISION, _REJECT = 6, 8
OUTLIER = 7

STATE_AFTER: dict[Verdict, str] = {
    "approve": "review_approved",
    "revision": "review_failed",
    "reject": "review_failed",
}


def verdict(score: int) -> Verdict:
    if score < _REVISION:
        return "approve"
    return "revision" if score < _REJECT else "reject"
