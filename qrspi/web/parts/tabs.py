"""Neighbours of a page, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.named_tuple import NamedTuple

_OF_RUN = {"": "Run", "/tasks": "Tasks", "/log": "Log", "/spend": "Spend"}


class Tab(NamedTuple):
    address: str
    label: str
    here: bool
    kind: str = ""  # said to those who hear the page


def of_run(run: str, here: str) -> tuple[Tab, ...]:
    return tuple(Tab(f"/runs/{run}{part}", label, part == here) for part, label in _OF_RUN.items())


def of_rounds(run: str, step: str, numbers: Iterable[int], here: int) -> tuple[Tab, ...]:
    """None beside an only round."""
    place = f"/runs/{run}/{step}/rounds"
    tabs = tuple(Tab(f"{place}/{one}", str(one), one == here, "Round ") for one in numbers)
    return tabs if len(tabs) > 1 else ()
