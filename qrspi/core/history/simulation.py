"""A run's history with other settings: where its loops would have gone another way.

Only what was written then is known. What a round looked at is not derived again, and nobody knows
what reviewers would have said in a round that never took place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from qrspi.core.findings import triage
from qrspi.core.findings.triage import THRESHOLDS
from qrspi.core.history.past_rounds import Loop, PastRound
from qrspi.core.model import ChangeType, Triaged, Verdict
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.rounds import pause_file
from qrspi.core.rounds.round_list import AUTONOMOUS

# clean: the text goes to a person or on. pause: somebody is asked about findings. fix: they are
# applied, and another round follows. cap: a person is asked whether the loop goes on.
Then = Literal["clean", "pause", "fix", "cap"]


class Settings(NamedTuple):
    thresholds: Mapping[ChangeType, int] = THRESHOLDS
    cap: int = AUTONOMOUS
    verifier: bool | None = None  # None: as it was


class Changed(NamedTuple):
    finding: str
    score: int | None
    was: Verdict
    would_be: Verdict
    because: str


class Replayed(NamedTuple):
    round: int
    kept: int
    then: Then
    would_keep: int
    would_then: Then
    reached: bool  # the loop would have come to this round
    changed: tuple[Changed, ...] = ()


class ReplayedLoop(NamedTuple):
    step: str
    rounds: tuple[Replayed, ...]
    because: str  # how it would have gone another way; '' when it would not
    left: tuple[int, ...] = ()  # rounds that were opened and never came to an end, or not yet

    @property
    def differs(self) -> bool:
        return bool(self.because)


def replay(loop: Loop, settings: Settings) -> ReplayedLoop:
    rounds: list[Replayed] = []
    reached = True
    was_alone = would_alone = 0
    for past in (one for one in loop.rounds if one.judged):
        items = _judged(past, settings)
        was_alone += not pause_file.waiting(past.triaged)
        would_alone += not pause_file.waiting(items)
        replayed = Replayed(
            round=past.number,
            kept=past.kept,
            then=_then(past.triaged, was_alone, AUTONOMOUS),
            would_keep=sum(item.verdict != "drop" for item in items),
            would_then=_then(items, would_alone, settings.cap),
            reached=reached,
            changed=_changed(past.triaged, items),
        )
        rounds.append(replayed)
        reached = reached and not _ends(replayed)
    left = tuple(past.number for past in loop.rounds if not past.judged)
    return ReplayedLoop(loop.subject.key, tuple(rounds), _because(rounds), left)


def _ends(replayed: Replayed) -> bool:
    """Whether the loop would have ended here. If it really ended here and a round follows anyway,
    somebody wanted that round."""
    return replayed.would_then in ("clean", "cap") and replayed.would_then != replayed.then


def _judged(past: PastRound, settings: Settings) -> tuple[Triaged, ...]:
    verifier = past.verified if settings.verifier is None else settings.verifier
    limits = settings.thresholds
    return triage.partition(
        past.files, verifier_enabled=verifier, skipped=past.skipped, thresholds=limits
    )


def _then(items: tuple[Triaged, ...], alone: int, cap: int) -> Then:
    if all(item.verdict == "drop" for item in items):
        return "clean"
    if pause_file.waiting(items):
        return "pause"
    return "cap" if alone >= cap else "fix"


def _changed(was: tuple[Triaged, ...], now: tuple[Triaged, ...]) -> tuple[Changed, ...]:
    pairs = zip(was, now, strict=True)
    return tuple(
        Changed(triaged.finding.name, triaged.score, triaged.verdict, other.verdict, other.because)
        for triaged, other in pairs
        if triaged.verdict != other.verdict
    )


def _because(rounds: list[Replayed]) -> str:
    """The first round that would have gone another way: nobody knows what would have followed."""
    for at, one in enumerate(rounds):
        later = [other.round for other in rounds[at + 1 :]]
        if one.would_then == one.then:
            continue
        if _ends(one) and later:
            ends = "clean" if one.would_then == "clean" else "stopped for a person"
            span = f"round {later[0]}" if len(later) == 1 else f"rounds {later[0]}-{later[-1]}"
            return f"round {one.round} would have been {ends}: {span} would not have been made"
        return f"round {one.round} would have ended with {one.would_then} instead of {one.then}"
    if any(replayed.changed for replayed in rounds):
        return "other findings would have been kept, and the loop would have gone the same way"
    return ""
