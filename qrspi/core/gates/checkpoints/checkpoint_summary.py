"""How smoothly a phase went: each task by its roughest review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.gates.checkpoints.checkpoint_scale import MEANING, OUTLIER
from qrspi.core.named_tuple import NamedTuple

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


def of(tasks: Iterable[str], worst: Mapping[str, int]) -> Summary:
    scored = tuple(Scored(task, worst.get(task)) for task in tasks)
    scores = [one.score for one in scored if one.score is not None]
    if not scores:
        return Summary(scored)
    average = sum(scores) / len(scores)
    rough = [one.task for one in scored if one.score is not None and one.score >= OUTLIER]
    alone = rough[0] if len(rough) == 1 else ""
    return Summary(scored, average, max(scores), _meaning(average), alone)


def _meaning(average: float) -> str:
    if average <= 3:
        return _GOOD
    return _ADEQUATE if average < 5 else _SYSTEMIC
