"""A broker for all tests of this folder, workers and engines as real processes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.broker import SERVER, Broker
from tests.fleet.machines import Fleet


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One broker serves them all: where several processes share the tests, one takes these, and
    first, as they take long."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("fleet"))
    items.sort(key=lambda item: here not in item.path.parents)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if not SERVER.exists() or shutil.which("epmd") is None:
        pytest.skip("there is no rabbitmq-server here: root's `make setup` installs it")
    made = Broker(tmp_path_factory.mktemp("broker"))
    made.start()
    yield made
    made.close()


@pytest.fixture
def fleet(broker: Broker, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(broker, tmp_path)
    yield made
    made.close()
