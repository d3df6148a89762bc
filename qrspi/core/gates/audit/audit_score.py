"""How a plan scores: three dimensions of a hundred points, weighted, each with what moved it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from qrspi.core.named_tuple import NamedTuple

Verdict = Literal["approved", "concerns", "rejected"]

WEIGHTS = {"technical_feasibility": 4, "risk_assessment": 3, "completeness": 3}  # tenths
UNCOVERED, COVERAGE_FLOOR = 15, 40
DEPARTS = 10
NO_CONTEXT = 70
MANY_TASKS = 10
APPROVED, CONCERNS = 80, 60
_FEW, _MANY = 90, 50
_SOME, _NONE = 85, 30


class Move(NamedTuple):
    """Points that came or went, and why."""

    points: int
    because: str
    remedy: str = ""  # what would bring them back


class Dimension(NamedTuple):
    name: str
    moves: tuple[Move, ...]
    findings: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        return sum(move.points for move in self.moves)


class Review(NamedTuple):
    """One phase of a plan."""

    id: str
    dimensions: tuple[Dimension, ...]
    tasks: int
    raises: tuple[str, ...] = ()  # what would give more points

    @property
    def total_score(self) -> int:
        return total(self.dimensions)

    @property
    def verdict(self) -> Verdict:
        return "rejected" if not self.tasks else verdict(self.total_score)


def total(dimensions: Iterable[Dimension]) -> int:
    """Counted in tenths, so that a half is exact; halves are rounded to the even number."""
    tenths = sum(WEIGHTS[one.name] * one.score for one in dimensions)
    whole, rest = divmod(tenths, 10)
    return whole + (rest > 5 or (rest == 5 and whole % 2 == 1))


def verdict(score: int) -> Verdict:
    if score >= APPROVED:
        return "approved"
    return "concerns" if score >= CONCERNS else "rejected"


def overall(reviews: Iterable[Review]) -> Verdict:
    said = {review.verdict for review in reviews}
    order: tuple[Verdict, ...] = ("rejected", "concerns")
    return next((word for word in order if word in said), "approved")


class Coverage(NamedTuple):
    """What is known of the code that the plan is about."""

    context: tuple[str, ...]  # files that matter, as research or a context file says
    uncovered: tuple[str, ...]  # those of them that no task targets
    strange: tuple[str, ...]  # targets that neither exist nor lie beside something that does
    targets: int

    @property
    def departs(self) -> bool:
        return 2 * len(self.strange) > self.targets


def feasibility(found: Coverage, findings: tuple[str, ...] = ()) -> Dimension:
    said = [*findings, *(f"no task targets {file}" for file in found.uncovered)]
    if found.departs:
        said.append(
            f"potentially outdated: {len(found.strange)} of {found.targets} target files neither "
            "exist nor lie beside existing ones"
        )
    if not found.context:
        said.append("nothing says which files matter: neither research nor a context file")
        moves: tuple[Move, ...] = (Move(NO_CONTEXT, "no context to compare the targets with"),)
        return Dimension("technical_feasibility", moves, tuple(said))
    moves = (Move(100, "to begin with"), *_uncovered(found.uncovered))
    if found.departs:
        remedy = "target files that exist, or that lie beside existing ones"
        moves += (Move(-DEPARTS, "the plan departs from existing patterns", remedy),)
    return Dimension("technical_feasibility", moves, tuple(said))


def _uncovered(files: tuple[str, ...]) -> tuple[Move, ...]:
    left = 100 - COVERAGE_FLOOR
    moves = []
    for file in files:
        points = min(UNCOVERED, left)
        left -= points
        more = "" if points == UNCOVERED else f" (never below {COVERAGE_FLOOR})"
        moves.append(Move(-points, f"no task targets {file}{more}", f"have a task target {file}"))
    return tuple(moves)


def risk(tasks: int, findings: tuple[str, ...] = ()) -> Dimension:
    if tasks <= MANY_TASKS:
        moves = (Move(_FEW, f"{tasks} {'task' if tasks == 1 else 'tasks'}, at most {MANY_TASKS}"),)
        return Dimension("risk_assessment", moves, findings)
    said = f"{tasks} tasks, more than {MANY_TASKS}: the scope may have grown"
    return Dimension("risk_assessment", (Move(_MANY, said),), (said, *findings))


def completeness(tasks: int, findings: tuple[str, ...] = ()) -> Dimension:
    if tasks:
        return Dimension("completeness", (Move(_SOME, "there are tasks"),), findings)
    said = "no tasks are defined"
    return Dimension("completeness", (Move(_NONE, said),), (said, *findings))


def raises(review: Review) -> tuple[str, ...]:
    """What would give more points, the best first."""
    by_name = {one.name: one for one in review.dimensions}
    found: list[tuple[int, str]] = []
    for move in by_name["technical_feasibility"].moves:
        if move.points < 0:
            found.append((-move.points * 4, move.remedy))
        elif move.points == NO_CONTEXT:
            found.append(((100 - NO_CONTEXT) * 4, "cite files as path:L12 in research"))
    if by_name["risk_assessment"].score == _MANY:
        text = f"plan {MANY_TASKS} tasks or fewer in one phase"
        found.append(((_FEW - _MANY) * 3, text))
    if by_name["completeness"].score == _NONE:
        found.append(((_SOME - _NONE) * 3, "write the tasks in tasks/task-NN.md"))
    ordered = sorted(found, key=lambda one: -one[0])
    return tuple(f"{text} (+{tenths / 10:g})" for tenths, text in ordered if tenths)
