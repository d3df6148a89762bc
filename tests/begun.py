"""What many tests begin with is made once by each worker; the others have a copy."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

_WHO = os.geteuid()  # some tests are somebody else for a while, who may not look into the store
_seen: set[object] = set()
_kept: dict[object, tuple[Path, Path]] = {}


def begin(
    root: Path, made_of: object, make: Callable[[], object], *, place_is_told: bool = False
) -> None:
    """Whatever `make` leaves in the empty folder `root`. It is kept from the second time on: most
    of what is made is made for one test. git finds its index out of date in a copy, and looks."""
    if os.geteuid() != _WHO or (root.exists() and any(root.iterdir())):
        make()
        return
    settings = frozenset(one for one in os.environ.items() if one[0].startswith(("GIT_", "QRSPI_")))
    key = (made_of, settings)
    if key in _kept:
        copy, place = _kept[key]
        shutil.copytree(copy, root, symlinks=True, dirs_exist_ok=True)
        if place_is_told:
            _tell_place(root, str(place).encode())
        return
    make()
    if key in _seen:
        _kept[key] = (_store() / str(len(_kept)), root)
        shutil.copytree(root, _kept[key][0], symlinks=True)
    _seen.add(key)


def _tell_place(root: Path, before: bytes) -> None:
    """Work trees, and prompts that were written, name the folder that they are in."""
    for folder, _, names in os.walk(root):
        for file in (Path(folder) / name for name in names):
            if not file.is_symlink() and before in (data := file.read_bytes()):
                assert b"\0" not in data, f"{file} is not text: nobody knows what a place is in it"
                file.write_bytes(data.replace(before, str(root).encode()))


@cache
def _store() -> Path:
    folder = tempfile.mkdtemp(prefix="qrspi-begun-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
