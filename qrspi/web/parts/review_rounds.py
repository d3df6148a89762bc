"""The rounds of a step in figures, and as a plot."""

from __future__ import annotations

from qrspi.core.config import reader as configs
from qrspi.core.findings import triage
from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list, scope_set
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.scope_set import ScopeSet
from qrspi.core.tree import CONFIG_LIMIT, Tree
from qrspi.web.parts.words import LOOKS

_MOST = 100
WIDTH, HEIGHT = 320, 150  # as a phone shows it
LEFT, ABOVE, BELOW = 24, 10, 22
_LABEL = 26  # how wide one is
_ARROWS = {"": "", "narrow": " ▸◂", "broaden": " ◂▸"}
_ROOMY = 70  # from here on there is room for words
_SAID = {"": "", "narrow": " ▸◂ narrow", "broaden": " ◂▸ whole"}


class RoundFigures(NamedTuple):
    number: int
    stage: str
    kept: int
    dropped: int
    scope: int | None  # parts of the text; None where no scope set is kept
    looks: str  # narrow or broaden, as its manifest says; '' of the first

    @property
    def parts(self) -> str:
        return "–" if self.scope is None else str(self.scope)


def of_step(tree: Tree, subject: Subject) -> tuple[RoundFigures, ...]:
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    numbers = round_list.rounds(tree, subject)[-_MOST:]
    return tuple(_figures(tree, one) for one in loops.each(tree, subject, config, numbers))


def _figures(tree: Tree, loop: Loop) -> RoundFigures:
    tally = triage.tally(loop.files, loop.triaged) if loop.files else None
    scope = scope_set.load(tree.read(loop.paths.scope_set))
    choice = loop.manifest.choice if loop.manifest else None
    looks = "" if not choice or loop.round == 1 else "narrow" if choice.narrow else "broaden"
    return RoundFigures(
        loop.round,
        loop.stage,
        tally.kept if tally else 0,
        tally.dropped if tally else 0,
        len(scope.tags) if isinstance(scope, ScopeSet) else None,
        looks,
    )


class Mark(NamedTuple):
    """A round in the plot: a bar for what was kept, a square for what was in scope."""

    figure: RoundFigures
    x: float  # of its middle
    top: float  # of the bar
    scope: float | None
    label: str  # '' where there is no room for one

    @property
    def height(self) -> float:
        return round(HEIGHT - BELOW - self.top, 1)

    @property
    def square(self) -> str:
        """Where the corner of the square is; '' without one."""
        return "" if self.scope is None else f"{self.x - 3.5:g} {self.scope - 3.5:g}"


class Plot(NamedTuple):
    """Below two rounds there is none."""

    marks: tuple[Mark, ...]
    bar: float  # how wide
    ticks: tuple[tuple[float, int], ...]
    words: str

    @property
    def half(self) -> float:
        return self.bar / 2

    @property
    def scope_line(self) -> str:
        return " ".join(f"{one.x:g},{one.scope:g}" for one in self.marks if one.scope is not None)


def plot(rounds: tuple[RoundFigures, ...]) -> Plot | None:
    if len(rounds) < 2:
        return None
    top = max(1, *(max(figures.kept, figures.scope or 0) for figures in rounds))
    room = (WIDTH - LEFT) / len(rounds)
    marks = tuple(_mark(one, at, room, top) for at, one in enumerate(rounds))
    ticks = tuple((_y(value, top), value) for value in sorted({0, top // 2, top}))
    return Plot(marks, round(min(28.0, room * 0.5), 1), ticks, " ".join(map(_in_words, rounds)))


def _mark(figures: RoundFigures, at: int, room: float, top: int) -> Mark:
    scope = None if figures.scope is None else _y(figures.scope, top)
    every = max(1, round(_LABEL / room + 0.5))
    mark = (_SAID if room >= _ROOMY else _ARROWS)[figures.looks]
    label = f"{figures.number}{mark}" if at % every == 0 else ""
    return Mark(figures, round(LEFT + (at + 0.5) * room, 1), _y(figures.kept, top), scope, label)


def _y(value: int, top: int) -> float:
    return round(HEIGHT - BELOW - value * (HEIGHT - BELOW - ABOVE) / top, 1)


def _in_words(figures: RoundFigures) -> str:
    scope = "" if figures.scope is None else f", {counted(figures.scope, 'part')} in scope"
    return f"Round {figures.number}: {figures.kept} kept{scope}, {LOOKS[figures.looks]}."
