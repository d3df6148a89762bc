"""Commands by somebody who is not root, whose permissions count."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


class User:
    def __init__(self, prefix: list[str]) -> None:
        self._prefix = prefix

    def run(self, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        command = [*self._prefix, *map(str, argv)]
        return subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="qrspi-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def plain_user(folder: Path, *, read_only: bool = False) -> Iterator[User]:
    """The owner of a folder and of everything in it; without the right to write, if so wanted."""
    if not os.geteuid() and not shutil.which("setpriv"):
        pytest.skip("root may do everything, and setpriv is not installed")
    before = {path: path.lstat() for path in (folder, *folder.rglob("*"))}
    try:
        for path, was in before.items():
            _give(path, stat.S_IMODE(was.st_mode), read_only)
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        yield User([] if os.geteuid() else words)
    finally:
        for path, was in before.items():
            if path.exists():
                path.chmod(stat.S_IMODE(was.st_mode))


def _give(path: Path, mode: int, read_only: bool) -> None:
    if not os.geteuid():
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    if read_only and not path.is_symlink():
        path.chmod(mode & ~0o222)
