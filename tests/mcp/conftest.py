from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.cli.conftest import Call, Result
from tests.forked_command import qrspi


@pytest.fixture
def process() -> Call:
    """A command in a process of its own, to hold what a tool says against."""

    def call(*words: str, **more: Any) -> Result:
        done = subprocess.run([qrspi(), *words], capture_output=True, text=True, **more)
        return Result(done.returncode, done.stdout, done.stderr)

    return call
