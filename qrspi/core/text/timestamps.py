"""Times in records, as numbers that can be compared and added to. Nothing here reads the clock: the
present time is a value like any other."""

from __future__ import annotations

import re

DAY = 24 * 60 * 60
_SHAPE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,9})?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def seconds(stamp: str) -> int | None:
    """Since 1970; None when it is no time."""
    match = _SHAPE.fullmatch(stamp)
    if not match:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    ahead = int(match[8] or 0) * 60 + int(match[9] or 0)
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] and hour < 24 and minute < 60):
        return None
    if second > 59 or year < 1 or ahead >= 24 * 60:
        return None
    offset = -ahead if match[7] == "-" else ahead
    return _days(year, month, day) * DAY + (hour * 60 + minute - offset) * 60 + second


def later(stamp: str, days: int) -> str:
    """The same moment some days later, in UTC."""
    since = seconds(stamp)
    if since is None:
        raise ValueError(f"no time: {stamp!r}")
    whole, rest = divmod(since + days * DAY, DAY)
    year, month, day = _date(whole)
    hour, minute = divmod(rest // 60, 60)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{rest % 60:02d}Z"


# Years are counted from March, so that a leap day is the last day of its year.
_EPOCH = 719468  # days from 0000-03-01 to 1970-01-01
_ERA = 146097  # days in 400 years


def _days(year: int, month: int, day: int) -> int:
    since, moon = (year, month - 3) if month > 2 else (year - 1, month + 9)
    before = since * 365 + since // 4 - since // 100 + since // 400
    return before + (153 * moon + 2) // 5 + day - 1 - _EPOCH


def _date(days: int) -> tuple[int, int, int]:
    era, rest = divmod(days + _EPOCH, _ERA)
    years = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    rest -= 365 * years + years // 4 - years // 100
    moon = (5 * rest + 2) // 153
    day = rest - (153 * moon + 2) // 5 + 1
    month = moon + 3 if moon < 10 else moon - 9
    return era * 400 + years + (month <= 2), month, day
