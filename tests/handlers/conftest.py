from __future__ import annotations

import pytest

from tests.handlers.gates import NOW


@pytest.fixture
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRSPI_NOW", NOW)
