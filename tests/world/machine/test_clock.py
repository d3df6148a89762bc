from __future__ import annotations

import re
import time

import pytest

from qrspi.core.errors import Misuse
from qrspi.world.machine import clock


def test_records_carry_utc_whatever_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QRSPI_NOW", raising=False)
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    try:
        said = clock.now_utc()
        local = clock.today()
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", said)
    assert local >= said[:10]


def test_the_time_can_be_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRSPI_NOW", "2026-05-17T23:30:00Z")
    assert (clock.now_utc(), clock.today()) == ("2026-05-17T23:30:00Z", "2026-05-17")


@pytest.mark.parametrize("said", ["now", "2026-05-17", "2026-05-17T23:30:00+02:00", "0"])
def test_a_time_of_another_shape_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("QRSPI_NOW", said)
    with pytest.raises(Misuse) as misuse:
        clock.now_utc()
    assert str(misuse.value) == (
        f"QRSPI_NOW is {said!r}: expected a UTC time such as 2026-05-17T09:30:00Z"
    )
