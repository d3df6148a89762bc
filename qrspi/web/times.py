"""Times as people say them."""

from __future__ import annotations

from datetime import datetime

from qrspi.world.machine import clock

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def ago(stamp: str) -> str:
    """`3 h ago`; what is no time is given back."""
    try:
        then = datetime.fromisoformat(stamp)
        now = datetime.fromisoformat(clock.now_utc())
        seconds = (now - then).total_seconds()
    except (ValueError, TypeError):
        return stamp
    for size, name in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return "just now"
