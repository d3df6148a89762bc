"""A broker for all tests of this folder, workers and engines as real processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.broker import SERVER, Broker
from tests.fleet.machines import Fleet


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if not SERVER.exists() or shutil.which("epmd") is None:
        pytest.skip("there is no rabbitmq-server here: `make fleet` installs it")
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("one broker serves these tests, in one process: `make fleet` runs them")
    made = Broker(tmp_path_factory.mktemp("broker"))
    made.start()
    yield made
    made.close()


@pytest.fixture
def fleet(broker: Broker, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(broker, tmp_path)
    yield made
    made.close()
