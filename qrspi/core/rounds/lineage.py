"""Findings across rounds: which are new, which stay, which were settled and come back.

Two findings are the same defect when they are about the same section and their messages share
enough words: lines move and reviewers rephrase.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from qrspi.core.digest import sha256
from qrspi.core.hints import Literal
from qrspi.core.model import Verdict
from qrspi.core.named_tuple import NamedTuple

State = Literal["new", "persisting", "resolved", "re-raised"]
Outlook = Literal["converging", "stagnant", "oscillating"]

# Measured on pairs written for the tests: rephrasings of one finding score 0.6 to 0.9,
# different findings about one section 0.2 to 0.5. In another section only a near copy counts.
ALIKE = 0.55
ALIKE_ELSEWHERE = 0.8
TELLING = 50  # a word that more defects share identifies none of them
RECENT = 3  # rounds that the outlook is judged by


class FindingRecord(NamedTuple):
    tag: str
    finding_id: str
    section: str  # its scope tag: a heading, a path, or <full>
    message: str
    verdict: Verdict = "keep"
    decision: str = ""  # a person's: apply, skip, loop-back, pending; '' when none was asked
    cited: str = ""  # in the text of its own round
    said: str = ""  # who decided it, and when, as far as it is on record

    @property
    def name(self) -> str:
        return f"{self.tag}.{self.finding_id}"

    @property
    def settled(self) -> bool:
        """Somebody decided against it, so it was neither fixed nor left open."""
        return self.verdict == "drop" or self.decision == "skip"

    @property
    def fate(self) -> str:
        if self.verdict == "drop":
            return "dropped by the verifier"
        return self.said or ("skipped" if self.decision == "skip" else "kept")


class RoundFindings(NamedTuple):
    number: int
    records: tuple[FindingRecord, ...]


class Sighting(NamedTuple):
    round: int
    record: FindingRecord


class Lineage(NamedTuple):
    state: State
    because: str
    fingerprint: str
    sightings: tuple[Sighting, ...]  # from the first round to the last
    earlier: Sighting | None = None  # what it came back after, when it was re-raised


class Course(NamedTuple):
    """What became of the defects from one round to the next, or over several."""

    resolved: int
    persisting: int
    re_raised: int
    new: int


class Trace(NamedTuple):
    findings: tuple[Lineage, ...]  # one for each finding of the last round, in its order
    resolved: tuple[Lineage, ...]
    outlook: Outlook | None  # None after a single round: there is nothing to compare
    because: str


def trace(rounds: Sequence[RoundFindings], step: str = "") -> Trace:
    """The rounds of one loop, oldest first."""
    if not rounds:
        return Trace((), (), None, "no round yet")
    register = _Register(rounds)
    numbers = [round.number for round in rounds]
    findings = tuple(_lineage(defect, numbers, step) for defect in register.latest)
    gone = (defect for defect in register.defects if defect.last_seen < numbers[-1])
    resolved = tuple(_lineage(defect, numbers, step) for defect in gone if not defect.settled)
    return Trace(findings, resolved, *_outlook(register.defects, numbers))


def returns(rounds: Sequence[RoundFindings]) -> int:
    """How many findings came back after somebody settled them, or after a round without them."""
    order = {round.number: at for at, round in enumerate(rounds)}
    return sum(_returned(defect, order) for defect in _Register(rounds).defects)


def _returned(defect: _Defect, order: Mapping[int, int]) -> int:
    seen = sorted({sighting.round for sighting in defect.sightings}, key=order.__getitem__)
    back = (
        now
        for before, now in pairwise(seen)
        if order[now] > order[before] + 1 or not defect.is_open(before)
    )
    return sum(len(defect.at(now)) for now in back)


def fingerprint(step: str, section: str, message: str) -> str:
    text = "\0".join((step, section, *sorted(words_of(message))))
    return sha256(text.encode(errors="replace")).hexdigest()[:16]


def history(lineage: Lineage) -> str:
    """`round 1: quality-claude.R1-F02 dropped by the verifier; round 3: …`."""
    return "; ".join(
        f"round {seen.round}: {seen.record.name} {seen.record.fate}" for seen in lineage.sightings
    )


class _Defect:
    def __init__(self, order: int) -> None:
        self.order = order
        self.sightings: list[Sighting] = []
        self.tags: set[str] = set()  # the reviewers that have seen it
        self.words: list[frozenset[str]] = []  # of the latest round's sightings

    @property
    def last_seen(self) -> int:
        return self.sightings[-1].round

    @property
    def settled(self) -> bool:
        return all(seen.record.settled for seen in self.at(self.last_seen))

    def at(self, round: int) -> list[Sighting]:
        return [seen for seen in self.sightings if seen.round == round]

    def is_open(self, round: int) -> bool:
        return any(not seen.record.settled for seen in self.at(round))

    def see(self, round: int, record: FindingRecord, words: frozenset[str]) -> None:
        if self.sightings and self.last_seen != round:
            self.words = []
        self.sightings.append(Sighting(round, record))
        self.tags.add(record.tag)
        self.words.append(words)

    def likeness(self, words: frozenset[str]) -> float:
        if len(self.words) == 1:
            return similarity(words, self.words[0])
        return max([similarity(words, known) for known in self.words])


class _Match(NamedTuple):
    """Sorts the most likely first."""

    unlikeness: float
    elsewhere: bool
    order: int  # of the defect
    at: int  # of the record


class _Register:
    """Every defect so far, found by the sections and by a few words of its sightings."""

    def __init__(self, rounds: Iterable[RoundFindings]) -> None:
        self.defects: list[_Defect] = []
        self.latest: list[_Defect] = []  # the defect of each record of the last round
        self._fresh: dict[str, list[_Defect]] = {}  # opened in the last round, by section
        self._in_section: defaultdict[str, dict[int, _Defect]] = defaultdict(dict)
        self._with_word: defaultdict[str, dict[int, _Defect]] = defaultdict(dict)
        for round in rounds:
            self._take(round)

    def _take(self, round: RoundFindings) -> None:
        words = [words_of(record.message) for record in round.records]
        known = self._recognised(round, words)
        self.latest, self._fresh = [], {}
        for at, record in enumerate(round.records):
            defect = known.get(at) or self._companion(record, words[at])
            defect = defect or self._opened(record.section)
            defect.see(round.number, record, words[at])
            self._file(defect, record.section, words[at])
            self.latest.append(defect)

    def _recognised(
        self, round: RoundFindings, words: Sequence[frozenset[str]]
    ) -> dict[int, _Defect]:
        """The best matches with earlier rounds. A reviewer names a defect only once a round."""
        matches = sorted(
            match
            for at, record in enumerate(round.records)
            for match in self._matches(at, record, words[at])
        )
        matched: dict[int, _Defect] = {}
        named: set[tuple[int, str]] = set()
        for match in matches:
            key = (match.order, round.records[match.at].tag)
            if match.at not in matched and key not in named:
                matched[match.at] = self.defects[match.order]
                named.add(key)
        return matched

    def _matches(self, at: int, record: FindingRecord, words: frozenset[str]) -> Iterator[_Match]:
        near = self._in_section.get(record.section, {})
        for defect in near.values():
            if (likeness := defect.likeness(words)) >= ALIKE:
                yield _Match(-likeness, False, defect.order, at)
        # Other sections are reached only through a few shared words, so the cost is quadratic only
        # in one section's findings.
        far = {order: one for word in sketch(words) for order, one in self._word(word)}
        for order, defect in far.items():
            if order not in near and (likeness := defect.likeness(words)) >= ALIKE_ELSEWHERE:
                yield _Match(-likeness, True, order, at)

    def _word(self, word: str) -> Iterable[tuple[int, _Defect]]:
        defects = self._with_word.get(word, {})
        return defects.items() if len(defects) <= TELLING else ()

    def _companion(self, record: FindingRecord, words: frozenset[str]) -> _Defect | None:
        """The defect that another reviewer of the same round has just opened."""
        for defect in self._fresh.get(record.section, ()):
            if record.tag not in defect.tags and defect.likeness(words) >= ALIKE:
                return defect
        return None

    def _opened(self, section: str) -> _Defect:
        self.defects.append(_Defect(len(self.defects)))
        self._fresh.setdefault(section, []).append(self.defects[-1])
        return self.defects[-1]

    def _file(self, defect: _Defect, section: str, words: frozenset[str]) -> None:
        self._in_section[section][defect.order] = defect
        for word in sketch(words):
            self._with_word[word][defect.order] = defect


def _lineage(defect: _Defect, numbers: Sequence[int], step: str) -> Lineage:
    state, because, earlier = _state(defect, numbers)
    first = defect.sightings[0].record
    known_by = fingerprint(step, first.section, first.message)
    return Lineage(state, because, known_by, tuple(defect.sightings), earlier)


def _state(defect: _Defect, numbers: Sequence[int]) -> tuple[State, str, Sighting | None]:
    now = numbers[-1]
    if defect.last_seen < now:
        return "resolved", f"last seen in round {defect.last_seen}", None
    before = [seen for seen in defect.sightings if seen.round < now]
    if not before:
        return "new", f"first raised in round {now}", None
    last = before[-1]
    group = [seen for seen in before if seen.round == last.round]
    if all(seen.record.settled for seen in group):
        because = f"{last.record.name} was {last.record.fate} in round {last.round}"
        return "re-raised", because, last
    if last.round < numbers[-2]:
        return "re-raised", f"gone after round {last.round}, back in round {now}", last
    return "persisting", f"first raised in round {before[0].round} and still there", None


def _outlook(defects: Sequence[_Defect], numbers: Sequence[int]) -> tuple[Outlook | None, str]:
    if len(numbers) < 2:
        return None, "a single round has nothing to be compared with"
    if not any(defect.is_open(numbers[-1]) for defect in defects):
        return "converging", f"nothing is open after round {numbers[-1]}"
    steps = list(pairwise(numbers))[-RECENT:]
    course = Course(*map(sum, zip(*(_course(defects, *pair) for pair in steps), strict=True)))
    because = (
        f"from round {steps[0][0]} to {numbers[-1]}: {course.resolved} resolved,"
        f" {course.persisting} persisting, {course.re_raised} re-raised, {course.new} new"
    )
    return judged(course), because


def judged(course: Course) -> Outlook:
    """Returning findings outweigh staying ones; new findings count against resolved ones."""
    returns = course.re_raised >= max(course.persisting, 1)
    if returns and 2 * course.re_raised >= course.resolved:
        return "oscillating"
    left = course.persisting + course.re_raised + course.new
    return "converging" if course.resolved > left else "stagnant"


def _course(defects: Iterable[_Defect], before: int, now: int) -> Course:
    resolved = persisting = re_raised = new = 0
    for defect in defects:
        was_open, is_open = defect.is_open(before), defect.is_open(now)
        resolved += was_open and not is_open
        persisting += was_open and is_open
        if is_open and not was_open:
            is_new = defect.sightings[0].round == now
            new += is_new
            re_raised += not is_new
    return Course(resolved, persisting, re_raised, new)


# How similar two messages are, by the words that carry their meaning

_WORD = r"[^\W_]+"
_LINE_NUMBERS = (
    r"\blines?\s+[0-9]+(?:\s*(?:-|–|to)\s*[0-9]+)?|\bl[0-9]+(?:-l?[0-9]+)?\b"
    r"|(?<=\w):[0-9]+(?:-[0-9]+)?"
)
_STEM = 5  # `contradicts` and `contradiction` are one word

_FILLERS = """a about after again all also although an and any are as at be been being both but by
can could did do does each for from had has have he how however if in into is it its just may more
most must never no nor not now of on one only or other our out over per same should so some still
such than that the their them then there these they this those to too two under until up use used
uses very via was were what when where which while who whose why will with without would yet you
your"""
# Words that reviewers use about everything.
_SPEECH = """add artifact claim claims clear currently define defined defines describe described
describes design document documented ensure lack lacks list listed lists mention mentions missing
need needs omit omits omitted remain remains require required requires say says section specified
specifies specify state stated states unclear undefined unspecified"""
_SAYS_LITTLE = frozenset((_FILLERS + " " + _SPEECH).split())


def words_of(message: str) -> frozenset[str]:
    text = re.sub(_LINE_NUMBERS, " ", message.lower())
    words = re.findall(_WORD, text)
    telling = frozenset(word[:_STEM] for word in words if word not in _SAYS_LITTLE)
    return telling or frozenset(words)


def similarity(words: frozenset[str], other: frozenset[str]) -> float:
    """Dice's coefficient: 1.0 for the same words, 0.0 for none in common."""
    total = len(words) + len(other)
    return 2 * len(words & other) / total if total else 1.0


def sketch(words: frozenset[str]) -> tuple[str, ...]:
    """A few words that two sets with most words in common almost certainly share."""
    return tuple(sorted(words)[-4:])
