"""What a run's rounds add up to: how close findings came to the threshold, how many rounds a text
took, what a kept finding cost, how many findings came back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from qrspi.core.agents.spend import Totals
from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history.past_rounds import Loop, PastRound
from qrspi.core.model import Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.rounds import lineage
from qrspi.core.rounds.lineage import RoundFindings

NEAR = 5  # points below the threshold that are worth a look
BUCKETS = ((1, 5), (6, 10), (11, 20), (21, 100))


class Tally(NamedTuple):
    name: str
    found: int
    kept: int
    dropped: int
    near: int  # dropped by no more than NEAR points
    distances: tuple[int, ...]  # below the threshold, for each dropped finding, ascending
    skipped: int = 0  # left as they are by a person

    @property
    def buckets(self) -> tuple[int, ...]:
        return tuple(sum(low <= one <= high for one in self.distances) for low, high in BUCKETS)


class ToClean(NamedTuple):
    run: str
    step: str
    rounds: int
    clean: int  # the first clean round; 0 when there was none


class Statistics(NamedTuple):
    rounds: int
    all: Tally
    by_type: tuple[Tally, ...]
    by_reviewer: tuple[Tally, ...]
    by_model: tuple[Tally, ...]
    to_clean: tuple[ToClean, ...]
    re_raised: int
    spent: Totals

    @property
    def per_kept(self) -> float | None:
        """What a kept finding cost; None when nobody reported it, or nothing was kept."""
        known = self.spent.calls > self.spent.unpriced and self.all.kept
        return self.spent.usd / self.all.kept if known else None

    @property
    def share(self) -> float:
        return self.re_raised / self.all.found if self.all.found else 0.0


class History(NamedTuple):
    run: str
    loops: tuple[Loop, ...]
    chronicles: tuple[tuple[RoundFindings, ...], ...]
    spent: Totals


class _Seen(NamedTuple):
    past: PastRound
    item: Triaged


def count(histories: Iterable[History]) -> Statistics:
    known = tuple(histories)
    loops = [(one.run, loop) for one in known for loop in one.loops]
    seen = [_Seen(past, item) for _, loop in loops for past in loop.rounds for item in past.triaged]
    spent = [one.spent for one in known]
    return Statistics(
        rounds=sum(len(loop.rounds) for _, loop in loops),
        all=_tally("all", seen),
        by_type=_by(seen, lambda one: one.item.finding.effective_type),
        by_reviewer=_by(seen, lambda one: one.item.finding.tag),
        by_model=_by(seen, lambda one: one.past.model_of(one.item.finding)),
        to_clean=tuple(_to_clean(run, loop) for run, loop in loops),
        re_raised=sum(lineage.returns(rounds) for one in known for rounds in one.chronicles),
        spent=Totals(*map(sum, zip(*spent, strict=True))) if spent else Totals(),
    )


def _by(seen: list[_Seen], key: Callable[[_Seen], str]) -> tuple[Tally, ...]:
    groups: defaultdict[str, list[_Seen]] = defaultdict(list)
    for round in seen:
        groups[key(round)].append(round)
    return tuple(_tally(name, groups[name]) for name in sorted(groups))


def _tally(name: str, seen: list[_Seen]) -> Tally:
    distances = tuple(sorted(_distances(seen)))
    dropped = sum(one.item.verdict == "drop" for one in seen)
    skipped = sum(one.past.skips(one.item.finding) for one in seen)
    near = sum(one <= NEAR for one in distances)
    return Tally(
        name=name,
        found=len(seen),
        kept=len(seen) - dropped - skipped,
        dropped=dropped,
        near=near,
        distances=distances,
        skipped=skipped,
    )


def _distances(seen: Iterable[_Seen]) -> Iterator[int]:
    for round in seen:
        threshold, score = THRESHOLDS.get(round.item.finding.effective_type), round.item.score
        if round.item.verdict == "drop" and threshold is not None and score is not None:
            yield threshold - score


def _to_clean(run: str, loop: Loop) -> ToClean:
    clean = (one.number for one in loop.rounds if not one.kept and one.whole and not one.skipped)
    return ToClean(run, loop.subject.key, len(loop.rounds), next(clean, 0))
