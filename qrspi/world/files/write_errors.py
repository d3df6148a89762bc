"""What a write that failed says: one line that names the file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem


@contextmanager
def worded(path: str, absent_is_fine: bool = False) -> Iterator[None]:
    """End the command for what the system refuses while `path` is written."""
    try:
        yield
    except OSError as error:
        if absent_is_fine and isinstance(error, FileNotFoundError):
            raise
        if error.errno == errno.ELOOP:
            raise Refusal(_symlink(path)) from None
        message = f"cannot write {path}: {error.strerror}"
        raise Halt(Problem("cannot-write", message, file=path)) from None
    except ValueError:
        raise Refusal(_outside(path)) from None


def _symlink(path: str) -> Problem:
    return Problem(
        "symlink",
        f"{path} is a symlink or lies below one: the engine never writes through a symlink",
        file=path,
        found="a symlink",
        expected="a file in the run's own directory",
    )


def _outside(path: str) -> Problem:
    return Problem(
        "outside-the-run",
        f"{path!r} names no file inside the run: nothing is written elsewhere",
        file=path,
        expected="a path below the run, without `..`",
    )
