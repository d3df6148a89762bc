"""What the page calls things, and times as people say them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from qrspi.world.machine import clock

WHO = {
    "human": "Waits for you",
    "agent": "Waits for agents",
    "engine": "Can go on by itself",
    "nobody": "Complete or set aside",
}
PROGRESS = {"pending": "to come", "in_progress": "under way", "completed": "done"}
VERDICT = {"keep": "kept", "drop": "dropped", "pause": "for a person", "propose": "proposed"}
VERDICTS = (*VERDICT.values(), "taken up", "skipped", "sent back")


def verdict(finding: dict[str, Any]) -> str:
    """A person's, where one decided."""
    decision = finding.get("decision") or ""
    return decision.partition(" by ")[0] or VERDICT[finding["verdict"]]


LOOKS = {"": "the whole text", "broaden": "the whole text again", "narrow": "only the last fixes"}
_PLACES = {
    "moved": "its lines have moved",
    "changed": "its lines have changed since",
    "gone": "its file is gone",
}
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def ago(stamp: str) -> str:
    """`3 h ago`; what is no time is given back."""
    try:
        moment = datetime.fromisoformat(stamp)
        seconds = (datetime.fromisoformat(clock.now_utc()) - moment).total_seconds()
    except (ValueError, TypeError):
        return stamp
    for size, name in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return "just now"


def pipeline(run: dict[str, Any]) -> str:
    return f"{run['pipeline'] or 'no usable'} pipeline, phase {run['phase']}"


def cited(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-L{last}"


def comment_state(comment: dict[str, Any]) -> str:
    if comment["resolved"]:
        return "resolved"
    place = _PLACES.get(comment["place"])
    return f"open, {place}" if place else "open"
