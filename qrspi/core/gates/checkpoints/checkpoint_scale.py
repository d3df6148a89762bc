"""The smoothness scale, from 0 (nothing went wrong) to 9 (it cannot be done this way); and how
smoothly a phase went: each task counts by its roughest review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from qrspi.core.named_tuple import NamedTuple

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


_GOOD = "Plan and instructions are high quality. Proceed confidently."
_ADEQUATE = "Plan is adequate but instructions could be more precise."
_SYSTEMIC = "Systemic issue — investigate plan quality, not just individual tasks."


class Scored(NamedTuple):
    task: str
    score: int | None  # None: nobody has reviewed it

    @property
    def meaning(self) -> str:
        return "not reviewed" if self.score is None else MEANING[self.score]


class Summary(NamedTuple):
    tasks: tuple[Scored, ...]
    average: float | None = None
    worst: int | None = None
    interpretation: str = ""
    outlier: str = ""  # the one task whose trouble is its own


def summarise(tasks: Iterable[str], worst: Mapping[str, int]) -> Summary:
    scored = tuple(Scored(task, worst.get(task)) for task in tasks)
    scores = [one.score for one in scored if one.score is not None]
    if not scores:
        return Summary(scored)
    average = sum(scores) / len(scores)
    rough = [one.task for one in scored if one.score is not None and one.score >= OUTLIER]
    alone = rough[0] if len(rough) == 1 else ""
    return Summary(scored, average, max(scores), _interpretation(average), alone)


def _interpretation(average: float) -> str:
    if average <= 3:
        return _GOOD
    return _ADEQUATE if average < 5 else _SYSTEMIC
