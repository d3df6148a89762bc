"""What a host can wait for, and what is different once it happened."""

from __future__ import annotations

from typing import Literal

from qrspi.core.model import RunState

Awaited = Literal["human", "agent", "change"]


def happened(awaited: Awaited, before: RunState, now: RunState) -> bool:
    """Whoever waits for a person or an agent is told at once when one is needed already."""
    if awaited == "change":
        return changed(before, now) != ()
    return now.next.who == awaited and not now.closed


def in_vain(awaited: Awaited, now: RunState) -> bool:
    """Nobody will ever be needed."""
    return awaited != "change" and (now.closed or now.next.who == "nobody")


def changed(before: RunState, now: RunState) -> tuple[str, ...]:
    """Which parts of the run's document are others now."""
    pairs = zip(before._asdict().items(), now, strict=True)
    return tuple(name for (name, old), new in pairs if old != new)
