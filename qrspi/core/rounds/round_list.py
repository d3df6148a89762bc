"""Which rounds a subject has, and when they are enough for a person to look."""

from collections.abc import Iterator, Sequence
from itertools import islice

from qrspi.core import filenames
from qrspi.core.filenames import RoundPaths, rounds_in
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault, Tree, entries, exists

SHARED = "reviews/integration"
HIGHEST = 9999  # as many digits as a round's name may have


def rounds(tree: Tree, subject: Subject) -> tuple[int, ...]:
    """The subject's rounds that are not empty, in order."""
    return tuple(reversed(tuple(_own(tree, subject))))


def newest(tree: Tree, subject: Subject) -> int:
    """The last of them, found without a look at the others; 0 when there is none."""
    return next(_own(tree, subject), 0)


def latest(tree: Tree, subject: Subject, upto: int, most: int) -> tuple[int, ...]:
    """The last of them up to a number, in order, found without a look at the earlier ones."""
    return tuple(reversed(tuple(islice(_own(tree, subject, upto), most))))


def highest(tree: Tree, subject: Subject) -> int:
    """The highest round in the directory, whoever opened it; 0 when there is none. A round whose
    folder is gone but whose records are left counts too, so that no number is used twice."""
    beside = (filenames.round_beside(entry.name) or 0 for entry in entries(tree, subject.reviews))
    files = (entry.name for entry in entries(tree, "reviews"))
    stopped = (filenames.paused_round(name, "pause|escape") for name in files)
    asked = (one[1] for one in stopped if one and one[0] == subject.key)
    return max(next(_descending(tree, subject), 0), *beside, *asked, 0)


def _own(tree: Tree, subject: Subject, upto: int = HIGHEST) -> Iterator[int]:
    numbers = _descending(tree, subject, upto)
    return (number for number in numbers if not is_of_another(tree, subject, number))


def is_of_another(tree: Tree, subject: Subject, number: int) -> bool:
    """The manifests tell two subjects in a shared directory apart."""
    if subject.reviews != SHARED:
        return False
    manifest = _manifest(tree, subject, number)
    return (manifest.step if manifest else "integrate") != subject.key


def _descending(tree: Tree, subject: Subject, upto: int = HIGHEST) -> Iterator[int]:
    numbers = reversed(rounds_in(entries(tree, subject.reviews)))
    return (number for number in numbers if number <= upto and _holds(tree, subject, number))


def _holds(tree: Tree, subject: Subject, number: int) -> bool:
    held = tree.entries(RoundPaths(subject.reviews, number).directory)
    return isinstance(held, Fault) or any(not filenames.is_dropping(entry.name) for entry in held)


def _manifest(tree: Tree, subject: Subject, number: int) -> Manifest | None:
    path = RoundPaths(subject.reviews, number).manifest
    manifest = manifests.read(tree.read(path, manifests.LIMIT), path)
    return manifest if isinstance(manifest, Manifest) else None


def manifest_before(tree: Tree, subject: Subject, number: int) -> Manifest | None:
    earlier = next((one for one in _own(tree, subject) if one < number), 0)
    return _manifest(tree, subject, earlier) if earlier else None


def odd_names(tree: Tree, subject: Subject) -> tuple[Problem, ...]:
    listed = entries(tree, subject.reviews)
    numbers = rounds_in(listed)
    good = {RoundPaths("", number).directory[1:] for number in numbers}
    odd = [
        Problem(
            "odd-round-name",
            f"{subject.reviews}/{entry.name} is not a round: expected a directory round-NN",
            file=f"{subject.reviews}/{entry.name}",
        )
        for entry in listed
        if filenames.looks_like_round(entry.name) and entry.name not in good
    ]
    return (*odd, *_gaps(subject, numbers))


def _gaps(subject: Subject, numbers: tuple[int, ...]) -> tuple[Problem, ...]:
    """One line for each gap, however wide, so that a stray `round-9999` does not flood the page."""
    problems = []
    for before, after in zip((0, *numbers), numbers, strict=False):
        first, last = before + 1, after - 1
        if first <= last:
            several = f"rounds {first:02d}-{last:02d} are"
            which = f"round {first:02d} is" if first == last else several
            text = f"{subject.reviews}: {which} missing below round {after:02d}"
            problems.append(Problem("round-gap", text, file=subject.reviews))
    return tuple(problems)


AUTONOMOUS = 10
TOTAL = 20
PAUSED_IN_A_ROW = 5


class Cap(NamedTuple):
    reason: str
    escape: bool  # whether a summary of everything unresolved must be written


def cap(tree: Tree, subject: Subject, base: int) -> Cap | None:
    numbers = (number for number in rounds(tree, subject) if number > base)
    files = (filenames.pause_file(subject.key, number) for number in numbers)
    return reached([exists(tree, file) for file in files])


def reached(pauses: Sequence[bool]) -> Cap | None:
    """Counted from whether each round paused for a person. A round that did is free of the
    autonomous count, but not of the other two."""
    if len(pauses) >= TOTAL:
        return Cap(f"{len(pauses)} rounds have run, the limit is {TOTAL}", True)
    tail = pauses[-PAUSED_IN_A_ROW:]
    if len(tail) == PAUSED_IN_A_ROW and all(tail):
        return Cap(f"{PAUSED_IN_A_ROW} rounds in a row waited for a person", True)
    alone = pauses.count(False)
    if alone >= AUTONOMOUS:
        return Cap(f"{alone} rounds ran on their own, the limit is {AUTONOMOUS}", False)
    return None
