"""Tests that share something slow are taken by one process: pytest-xdist tells it by their ids."""

from __future__ import annotations

import os

import pytest


@pytest.mark.xdist_group("together")
def test_a_group_of_tests_stays_together(request: pytest.FixtureRequest) -> None:
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    grouped = request.config.getoption("loadgroup", False)
    assert alone or not grouped or request.node.nodeid.endswith("@together")
