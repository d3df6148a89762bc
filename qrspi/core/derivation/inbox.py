"""Everything that waits for a person, over all runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from qrspi.core.model import RunState

Kind = Literal["approve", "pause", "failure", "menu", "task", "cap"]
_KINDS: dict[str, Kind] = {
    "approve": "approve",
    "pause": "pause",
    "failure": "failure",
    "cap": "cap",
    "task": "task",
}


class Item(NamedTuple):
    run: str
    kind: Kind
    step: str
    round: int
    summary: str
    command: str


def items(states: Iterable[RunState]) -> tuple[Item, ...]:
    return tuple(item for state in states for item in _waiting(state))


def _waiting(state: RunState) -> Iterator[Item]:
    """One item a run, but one for each finding that is to be decided."""
    answer = state.next
    if answer.who != "human" or state.closed:
        return
    kind = _KINDS.get(answer.kind, "menu")
    item = Item(state.run, kind, answer.step, answer.round, answer.summary, answer.command)
    if kind != "pause":
        yield item
        return
    for name in answer.missing:
        text = f"{name}: apply it, skip it, or go back to what it is really about"
        yield item._replace(summary=text, command=f"qrspi decide {state.run} {name} apply")
