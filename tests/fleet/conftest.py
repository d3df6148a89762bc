"""Workers and engines as real processes, around one broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.broker import Broker
from tests.fleet.machines import Fleet


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One broker serves them all: where several processes share the tests, one takes these, and
    first, as they take long."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("fleet"))
    items.sort(key=lambda item: here not in item.path.parents)


@pytest.fixture
def fleet(broker: Broker, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(broker, tmp_path)
    yield made
    made.close()
