"""The time as records carry it. No decision depends on it."""

from __future__ import annotations

import os
import time

from qrspi.core import patterns
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem

FORMAT = "%Y-%m-%dT%H:%M:%SZ"
VARIABLE = "QRSPI_NOW"  # fixes the time, so that a demo or a test gives the same bytes twice

_SHAPE = r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z"


def now_utc() -> str:
    """`2026-05-17T09:30:00Z`."""
    return _fixed() or time.strftime(FORMAT, time.gmtime())


def is_fixed() -> bool:
    return bool(_fixed())


def seconds() -> int:
    """Since 1970."""
    import calendar

    return calendar.timegm(time.strptime(now_utc(), FORMAT))


def today() -> str:
    """The date in the user's time zone, which is part of a new run's name."""
    return _fixed()[:10] or time.strftime("%Y-%m-%d")


def _fixed() -> str:
    value = os.environ.get(VARIABLE, "")
    if not value or patterns.fullmatch(_SHAPE, value):
        return value
    message = f"{VARIABLE} is {value!r}: expected a UTC time such as 2026-05-17T09:30:00Z"
    raise Misuse(Problem("bad-time", message, field=VARIABLE, found=value, expected="a UTC time"))
