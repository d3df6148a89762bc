"""Pictures that tasks name, shown only from the places where they may lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from qrspi.core.named_tuple import NamedTuple


class Places(NamedTuple):
    starts: tuple[str, ...]
    allowed: tuple[str, ...]


def places(run: str, project: str, declared: Iterable[str]) -> Places:
    inside = [real for name in declared if (real := _declared(name, run, project))]
    return Places((run, project), (os.path.realpath(run), *inside))


def refusal(path: str, where: Places) -> str | None:
    if not path.strip() or "\0" in path:
        return "it is not a path"
    try:
        real_paths = [real for start in where.starts if (real := _real(path, start))]
    except OSError as error:
        return f"it cannot be looked up ({os.strerror(error.errno or 0)})"
    if not real_paths:
        return "no such file"
    good = next((real for real in real_paths if _lies_in(real, where.allowed)), None)
    if good is None:
        return "it lies outside the run and the declared assets"
    return None if stat.S_ISREG(os.lstat(good).st_mode) else "it is not a regular file"


def _declared(name: str, run: str, project: str) -> str | None:
    root = os.path.realpath(project)
    for start in (run, project):
        real = os.path.realpath(os.path.join(start, name)) if "\0" not in name else ""
        if os.path.isdir(real) and _lies_in(real, (root,)):
            return real
    return None


def _real(path: str, start: str) -> str | None:
    try:
        return os.path.realpath(os.path.join(start, path), strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _lies_in(real: str, allowed: Sequence[str]) -> bool:
    return any(real.startswith(f"{place.rstrip('/')}/") for place in allowed)
