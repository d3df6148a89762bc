"""What a task may touch at most, held against what its commits changed."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.parallelization import covers
from qrspi.core.artifacts.task_file import Task, is_unread, plain_path
from qrspi.core.records.task_records import Outside
from qrspi.core.text import shortened
from qrspi.core.tree import Fault

_LISTED = 20  # names that are kept of what may be thousands
_LONGEST = 200


def outside(task: bytes | Fault, changed: Iterable[str], below: str = "") -> Outside:
    """`below` is the project's folder in the repository: people name files from either."""
    limits = _limits(task)
    if not limits:
        return Outside()
    found = [name for name in changed if not _is_allowed(limits, name, below)]
    names = tuple(shortened.remark(name, _LONGEST) for name in found[:_LISTED])
    return Outside(names, len(found))


def still(task: bytes | Fault, known: Outside) -> Outside:
    """What is left of it, where the task has come to allow more."""
    if not _limits(task):
        return Outside()
    now = outside(task, known.names)
    return now._replace(number=known.number - len(known.names) + now.number)


def _limits(data: bytes | Fault) -> tuple[str, ...]:
    """Nothing where the task sets no limit, or one that cannot be read."""
    task = task_file.read(data, "")
    if not isinstance(task, Task) or not task.allowed_files:
        return ()
    if any(map(is_unread, task.allowed_files)):
        return ()
    return tuple(plain_path(path) for path in (*task.allowed_files, *task.target_files))


def _is_allowed(limits: tuple[str, ...], name: str, below: str) -> bool:
    """A folder is named with a slash at its end, or without."""
    paths = {name, name.removeprefix(f"{below}/") if below else name}
    return any(
        covers(one, path) for limit in limits for one in (limit, f"{limit}/") for path in paths
    )
