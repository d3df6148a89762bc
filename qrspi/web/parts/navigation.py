"""Ways through the pages: the tabs of a run, the stops of its route, long lists page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.web.parts.words import PROGRESS

_OF_RUN = {"": "Run", "/tasks": "Tasks", "/log": "Log", "/spend": "Spend"}


class Tab(NamedTuple):
    address: str
    label: str
    here: bool
    kind: str = ""  # said to those who hear the page


def run_tabs(run: str, here: str) -> tuple[Tab, ...]:
    return tuple(Tab(f"/runs/{run}{part}", label, part == here) for part, label in _OF_RUN.items())


def round_tabs(run: str, step: str, numbers: Iterable[int], here: int) -> tuple[Tab, ...]:
    """None beside an only round."""
    place = f"/runs/{run}/{step}/rounds"
    tabs = tuple(Tab(f"{place}/{one}", str(one), one == here, "Round ") for one in numbers)
    return tabs if len(tabs) > 1 else ()


class Stop(NamedTuple):
    step: str
    state: str  # in words
    rounds: str  # '' without any
    classes: str
    is_current: bool


def stops(run: dict[str, Any], shown: str = "") -> tuple[Stop, ...]:
    """`shown` is the step that the page is about."""
    return tuple(_stop(one, run["current_step"], shown) for one in run["steps"])


def _stop(one: dict[str, Any], current: str | None, shown: str) -> Stop:
    step, progress = one["step"], one["progress"]
    marks = (progress, "here" if step == current else "", "shown" if step == shown else "")
    rounds = counted(one["rounds"], "round") if one["rounds"] else ""
    return Stop(step, PROGRESS[progress], rounds, " ".join(filter(None, marks)), step == current)


T = TypeVar("T")
PER_PAGE = 50


class Paging(NamedTuple):
    number: int
    last: int
    address: str  # of the list
    query: dict[str, str]  # what else the address says

    @property
    def several(self) -> bool:
        return self.last > 1

    @property
    def before(self) -> str:
        return self._at(self.number - 1) if self.number > 1 else ""

    @property
    def after(self) -> str:
        return self._at(self.number + 1) if self.number < self.last else ""

    def _at(self, number: int) -> str:
        return f"{self.address}?{urlencode({'page': number, **self.query})}"


def page(items: Sequence[T], wanted: str, address: str, **query: str) -> tuple[Sequence[T], Paging]:
    """The part of a list that an address asks for; the nearest one where there is no such part."""
    last = max(1, -(-len(items) // PER_PAGE))
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 else 1
    number = min(max(number, 1), last)
    given = {name: text for name, text in query.items() if text}
    return items[(number - 1) * PER_PAGE : number * PER_PAGE], Paging(number, last, address, given)
