"""The rounds of a step in figures, and as a plot."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.config import reader as configs
from qrspi.core.findings import triage
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list, scope_set
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.scope_set import ScopeSet
from qrspi.core.tree import CONFIG_LIMIT, Tree

_MOST = 100
WIDTH, HEIGHT, MARGIN = 640, 180, 28


class RoundFigures(NamedTuple):
    number: int
    stage: str
    kept: int
    dropped: int
    scope: int | None  # parts of the text; None where no scope set is kept
    looks: str  # narrow or broaden, as its manifest says; '' of the first


def of_step(tree: Tree, subject: Subject) -> tuple[RoundFigures, ...]:
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    numbers = round_list.rounds(tree, subject)[-_MOST:]
    return tuple(_figures(tree, one) for one in loops.each(tree, subject, config, numbers))


def _figures(tree: Tree, loop: Loop) -> RoundFigures:
    tally = triage.tally(loop.round, loop.triaged) if loop.round else None
    scope = scope_set.load(tree.read(loop.paths.scope_set))
    choice = loop.manifest.choice if loop.manifest else None
    looks = "" if not choice or loop.number == 1 else "narrow" if choice.narrow else "broaden"
    return RoundFigures(
        loop.number,
        loop.stage,
        tally.kept if tally else 0,
        tally.dropped if tally else 0,
        len(scope.tags) if isinstance(scope, ScopeSet) else None,
        looks,
    )


class Point(NamedTuple):
    x: float
    y: float
    figure: RoundFigures


class Plot(NamedTuple):
    """Below two rounds there is none."""

    kept: tuple[Point, ...]
    scope: tuple[Point, ...]
    ticks: tuple[tuple[float, int], ...]
    words: str

    @property
    def kept_line(self) -> str:
        return " ".join(f"{one.x:g},{one.y:g}" for one in self.kept)

    @property
    def scope_line(self) -> str:
        return " ".join(f"{one.x:g},{one.y:g}" for one in self.scope)


def plot(rounds: tuple[RoundFigures, ...]) -> Plot | None:
    if len(rounds) < 2:
        return None
    top = max(1, *(max(one.kept, one.scope or 0) for one in rounds))
    kept = tuple(_point(rounds, at, one.kept, top) for at, one in enumerate(rounds))
    scope = tuple(
        _point(rounds, at, one.scope, top) for at, one in enumerate(rounds) if one.scope is not None
    )
    ticks = tuple((_y(value, top), value) for value in sorted({0, top // 2, top}))
    return Plot(kept, scope, ticks, _words(rounds))


def _point(rounds: tuple[RoundFigures, ...], at: int, value: int, top: int) -> Point:
    x = MARGIN + at * (WIDTH - 2 * MARGIN) / (len(rounds) - 1)
    return Point(round(x, 1), _y(value, top), rounds[at])


def _y(value: int, top: int) -> float:
    return round(HEIGHT - MARGIN - value * (HEIGHT - 2 * MARGIN) / top, 1)


def _words(rounds: tuple[RoundFigures, ...]) -> str:
    counts = ", ".join(f"round {one.number}: {one.kept} kept" for one in rounds)
    return f"Kept findings by round: {counts}."
