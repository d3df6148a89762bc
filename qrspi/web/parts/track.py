"""The route of a run as a line of stops."""

from __future__ import annotations

from typing import Any

from qrspi.core.model import counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.web.parts.words import PROGRESS


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
