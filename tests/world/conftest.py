from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.repos import Project, make

NOBODY = 65534


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory of a user who is not allowed everything, as root is."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid():
            yield Path(name)
            return
        os.chown(name, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """`plan.md` is on main; `feature`, checked out, has a commit of its own."""
    project = make(tmp_path / "project")
    project.write("plan.md", "".join(f"line {number}\n" for number in range(40)))
    project.commit("base")
    project.git("checkout", "-q", "-b", "feature")
    project.write("notes.md", "notes\n")
    project.commit("feature")
    return project


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that whatever should not run would leave behind."""
    return tmp_path / "it-ran"
