"""Reading many things with all cores: each child is a fork that sends what it found, a record as a
tuple of no class. Only a process without threads forks: a lock that another thread holds would be
held in the child for ever. The share of a child that fails is read here."""

from __future__ import annotations

import _thread
import marshal
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from qrspi.core.hints import Any, NoReturn, TypeVar
from qrspi.core.named_tuple import NamedTuple, bare

FEWEST = 25  # things for each process; for fewer a fork takes longer than it spares
MOST = 8  # processes

Thing = TypeVar("Thing")


class _Child(NamedTuple):
    pid: int
    pipe: int


def each(
    work: Callable[[Thing], Any], things: Sequence[Thing], counted: Iterable[Thing]
) -> list[Any]:
    """`counted` gives all of them once more, one whenever this process goes on: it may count."""
    count = min(_cores(), len(things) // FEWEST, MOST)
    if count < 2:
        return [work(thing) for thing in counted]
    children = [_fork(work, things[at::count]) for at in range(1, count)]
    results: list[Any] = [None] * len(things)
    try:
        results[::count] = [work(one) for at, one in enumerate(counted) if not at % count]
        for at, child in enumerate(children, 1):
            results[at::count] = _found_by(child) or [work(one) for one in things[at::count]]
    finally:
        for child in children:
            _end(child)
    return results


def _cores() -> int:
    if not hasattr(os, "sched_getaffinity") or _thread._count():
        return 1
    return len(os.sched_getaffinity(0))


def _fork(work: Callable[[Thing], Any], things: Sequence[Thing]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _send(writing, work, things)
    os.close(writing)
    return _Child(pid, reading)


def _send(pipe: int, work: Callable[[Thing], Any], things: Sequence[Thing]) -> NoReturn:
    """A failure is told by nothing: the parent comes upon it too."""
    try:
        with open(pipe, "wb") as file:
            file.write(marshal.dumps([bare(work(thing)) for thing in things]))
    finally:
        os._exit(0)  # nothing that the parent has open is written or cleaned up twice


def _found_by(child: _Child) -> list[Any] | None:
    """None where it ended before all of it was written."""
    with open(child.pipe, "rb", closefd=False) as file:
        sent = file.read()
    try:
        results: list[Any] = marshal.loads(sent)
    except (EOFError, ValueError, TypeError):
        return None
    return results


def _end(child: _Child) -> None:
    os.close(child.pipe)
    with suppress(ProcessLookupError):
        os.kill(child.pid, 9)  # it has ended already, unless an interrupt ends us before it
    os.waitpid(child.pid, 0)
