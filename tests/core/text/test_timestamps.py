from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.text import timestamps

MOMENTS = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9990, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)


def written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@given(MOMENTS, st.integers(0, 400))
def test_time_is_counted_as_calendars_do(moment: datetime, days: int) -> None:
    assert timestamps.seconds(written(moment)) == int(moment.timestamp())
    assert timestamps.later(written(moment), days) == written(moment + timedelta(days=days))


def test_a_zone_is_taken_into_account() -> None:
    there, here = "2026-05-17T09:30:00+02:00", "2026-05-17T07:30:00Z"
    assert timestamps.seconds(there) == timestamps.seconds(here)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-05-17",
        "2026-05-17T09:30:00",
        "2026-13-17T09:30:00Z",
        "2026-05-32T09:30:00Z",
        "2026-05-17T24:30:00Z",
        "2026-05-17T09:60:00Z",
        "2026-05-17T09:30:60Z",
        "2026-05-17T09:30:00+99:00",
        "٢٠٢٦-05-17T09:30:00Z",
        "0000-05-17T09:30:00Z",
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert timestamps.seconds(text) is None
