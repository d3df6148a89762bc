"""A project with one run, installed for a real host program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import scenes
from tests.hosts import programs
from tests.hosts.programs import Host
from tests.hosts.shown_session import NAMES

Make = Callable[[str], Host]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/hosts/" in item.path.as_posix():
            item.add_marker(pytest.mark.hosts)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The host with qrspi installed in a project whose goals wait for two reviewers. No folder is
    called qrspi: Codex names its home in a warning."""
    if shutil.which("unshare") is None or _no_namespace():
        pytest.skip("no network namespace can be made here, and nothing may leave the machine")
    root = tmp_path.resolve() / "shop"

    def made(name: str) -> Host:
        programs.program(name)
        scenes.prepared(root)
        host = Host(name, tmp_path.resolve() / "home", root)
        host.qrspi("install", NAMES[name], "--yes")
        return host

    return made


def _no_namespace() -> bool:
    return subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0
