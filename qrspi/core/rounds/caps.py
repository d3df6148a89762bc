"""When a review loop has gone on long enough for a person to look."""

from typing import NamedTuple

from qrspi.core.filenames import pause_file
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.tree import Fault, Tree

AUTONOMOUS = 10
TOTAL = 20
PAUSED_IN_A_ROW = 5


class Cap(NamedTuple):
    reason: str
    escape: bool  # whether a summary of everything unresolved is owed


def counted(tree: Tree, subject: Subject, base: int) -> tuple[tuple[int, bool], ...]:
    """This loop's rounds, each with whether it paused for a person."""
    numbers = (number for number in loops.rounds(tree, subject) if number > base)
    return tuple((number, _paused(tree, subject, number)) for number in numbers)


def _paused(tree: Tree, subject: Subject, number: int) -> bool:
    found = tree.head(pause_file(subject.key, number))
    return not (isinstance(found, Fault) and found.kind == "absent")


def reached(rounds: tuple[tuple[int, bool], ...]) -> Cap | None:
    """A round that paused is free of the autonomous count, not of the other two."""
    pauses = [paused for _, paused in rounds]
    if len(pauses) >= TOTAL:
        return Cap(f"{len(pauses)} rounds have run, the limit is {TOTAL}", True)
    tail = pauses[-PAUSED_IN_A_ROW:]
    if len(tail) == PAUSED_IN_A_ROW and all(tail):
        return Cap(f"{PAUSED_IN_A_ROW} rounds in a row waited for a person", True)
    alone = pauses.count(False)
    if alone >= AUTONOMOUS:
        return Cap(f"{alone} rounds ran on their own, the limit is {AUTONOMOUS}", False)
    return None
