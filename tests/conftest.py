"""What every test shares: deterministic Hypothesis, a git that reads no one's own config."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.fleet.broker import Broker

# A law with examples by the hundred takes seconds: `make test` tries some, `make faults` many.
settings.register_profile(
    "suite",
    deadline=None,
    max_examples=int(os.environ.get("QRSPI_EXAMPLES", "40")),
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

# What a shell starts in the background ignores ^C, and so would every program a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What tests write is written to be thrown away, and a disk is asked to keep it thousands of times.
# Memory is asked instead, where there is enough of it and the user named no other place.
MEMORY = "/dev/shm"
ENOUGH = 4 * 2**30


def _has_room(folder: str) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize > ENOUGH and not found.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _has_room(MEMORY):
    os.environ["TMPDIR"] = MEMORY
    tempfile.tempdir = None  # asked for again


# Where Python is told to keep nothing that it has compiled, every worker rewrites every test again,
# and every command compiles the package again.
sys.dont_write_bytecode = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a module makes once for all of its tests is made by one worker."""
    for item in items:
        if _shares(item.path) and not any(item.iter_markers("xdist_group")):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}.{item.path.stem}"))


@cache
def _shares(file: Path) -> bool:
    return 'scope="module"' in file.read_text("utf-8")


UNSET = """QRSPI_ROOT QRSPI_NOW COPILOT_CLI CLAUDECODE NO_COLOR CI GIT_DIR
PYTHONDONTWRITEBYTECODE""".split()


@pytest.fixture(autouse=True, scope="session")
def _plain_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the machine changes an answer."""
    with pytest.MonkeyPatch.context() as world, tempfile.TemporaryDirectory() as folder:
        for name in UNSET:
            world.delenv(name, raising=False)
        # A file, since git replaces whatever it is told to write its settings to, devices too; and
        # one that the users of some tests may read.
        Path(folder).chmod(0o755)
        settings_of_git = Path(folder) / "config"
        templates = Path(folder) / "templates"
        templates.mkdir()
        # Otherwise each commit starts a process that finds nothing to tidy up, and each repository
        # begins with twenty samples.
        settings_of_git.write_text(
            f"[maintenance]\n\tauto = false\n[init]\n\ttemplateDir = {templates}\n"
        )
        world.setenv("GIT_CONFIG_GLOBAL", str(settings_of_git))
        world.setenv("GIT_CONFIG_NOSYSTEM", "1")
        world.setenv("QRSPI_TRUST", "/")  # tests about consent take it away
        world.setenv("XDG_CONFIG_HOME", str(Path(folder) / "nothing"))
        world.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for role in ("AUTHOR", "COMMITTER"):
            world.setenv(f"GIT_{role}_NAME", "Ada Example")
            world.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
        yield


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """For the tests of the group `fleet`, which one worker takes: a broker is slow to start."""
    from tests.fleet.broker import SERVER, Broker

    if not SERVER.exists() or shutil.which("epmd") is None:
        pytest.skip("there is no rabbitmq-server here: root's `make setup` installs it")
    made = Broker(tmp_path_factory.mktemp("broker"))
    made.start()
    yield made
    made.close()
