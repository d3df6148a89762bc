from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project import Project, init

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


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = init(tmp_path_factory.mktemp("template"))
    (project.root / ".git" / "info").mkdir()
    for branch, name, text in (
        ("main", "plan.md", "".join(f"line {number}\n" for number in range(40))),
        ("feature", "notes.md", "notes\n"),
    ):
        project.git("checkout", "-q", "-B", branch)
        project.write(name, text)
        project.commit(branch)
    return project.root


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Project:
    """`plan.md` is on main; `feature`, checked out, has a commit of its own."""
    project = Project(tmp_path / "project")
    shutil.copytree(template, project.root)
    project.git("update-index", "--refresh")
    return project


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that whatever should not run would leave behind."""
    return tmp_path / "it-ran"
