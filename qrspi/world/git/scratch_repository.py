"""A repository of its own for a demonstration, independent of the user's git settings."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from qrspi.core.named_tuple import NamedTuple
from qrspi.world.files.atomic_write import reporting_errors
from qrspi.world.git import command

BASE = "main"
PERSON = ("Ada Example", "ada@example.org")

# After each commit, git would look for something to clean up.
_SETTINGS = {"user.name": PERSON[0], "user.email": PERSON[1], "maintenance.auto": "false"}
_WITHOUT = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_TEMPLATE_DIR", "GIT_TRACE")


class History(NamedTuple):
    commits: int
    merges: int


@contextmanager
def repository(files: Mapping[str, bytes], *, keep: bool) -> Iterator[str]:
    with reporting_errors("the folder for the demonstration"):
        folder = os.path.realpath(tempfile.mkdtemp(prefix="qrspi-demo-"))
    try:
        with _environment(folder):
            _begin(folder, files)
            yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _begin(folder: str, files: Mapping[str, bytes]) -> None:
    # Without a template, since the user's may contain hooks.
    _git(folder, "init", "--quiet", "--template=", f"--initial-branch={BASE}")
    # For a user who keeps the folder and goes on working in it.
    for key, value in _SETTINGS.items():
        _git(folder, "config", key, value)
    drop(folder, files)
    commit(folder, "A shop with a till")


@contextmanager
def _environment(folder: str) -> Iterator[None]:
    """No setting of the machine or its user counts inside, and nothing is remembered as allowed."""
    name, email = PERSON
    wanted = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHON": sys.executable}
    wanted["QRSPI_TRUST"] = folder
    for role in ("AUTHOR", "COMMITTER"):
        wanted |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email}
    before = {key: os.environ.pop(key, None) for key in (*wanted, *_WITHOUT)}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def drop(folder: str, files: Mapping[str, bytes]) -> None:
    """Write as an agent or an editor would: without the engine, and without its lock."""
    for path, data in files.items():
        place = f"{folder}/{path}"
        with reporting_errors(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)


def commit(folder: str, message: str) -> str:
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", f"--message={message}")
    return _git(folder, "rev-parse", "HEAD").strip()


def history(folder: str) -> History:
    count = ("rev-list", "--count", f"{BASE}..HEAD")
    return History(int(_git(folder, *count)), int(_git(folder, *count, "--merges")))


def _git(folder: str, *args: str) -> str:
    output = command.write(folder, args)
    if output.status:
        raise command.failure(args[0], output)
    return output.out.decode()
