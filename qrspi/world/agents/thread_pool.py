"""Dispatches in daemon threads of this process. A ThreadPoolExecutor's are joined when the
interpreter ends, and ^C would wait for the slowest model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class _Done(NamedTuple, Generic[R]):
    result: R


class _Ended(NamedTuple):
    error: Exception | None = None


_Results = SimpleQueue[_Done[R] | _Ended]
_WAIT = 0.5  # seconds: a ^C in the moment before a wait begins is heard when that wait ends


def run(
    items: Iterable[T], work: Callable[[T], R], jobs: int, glance: float | None = None
) -> Generator[list[R], None, None]:
    """An item is taken only when a thread is free: `items` may end by what is known by then. With a
    `glance`, a list comes at least this often, even an empty one."""
    source: _Source[T] = _Source(items)
    results: _Results[R] = SimpleQueue()
    threads = [
        threading.Thread(target=_work_through, args=(source, work, results), daemon=True)
        for _ in range(jobs)
    ]
    for thread in threads:
        thread.start()
    try:
        yield from _collected(results, len(threads), glance)
    finally:
        source.close()


class _Source(Generic[T]):
    """An iterator that several threads draw from, one at a time."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self._guard = threading.Lock()
        self._open = True

    def draw(self) -> Iterator[T]:
        while True:
            with self._guard:
                item = next(self._items, None) if self._open else None
            if item is None:
                return
            yield item

    def close(self) -> None:
        self._open = False


def _work_through(source: _Source[T], work: Callable[[T], R], results: _Results[R]) -> None:
    ended = _Ended()
    try:
        for item in source.draw():
            results.put(_Done(work(item)))
    except Exception as error:  # raised again by `_collected`: nobody watches a thread
        source.close()
        ended = _Ended(error)
    finally:
        results.put(ended)


def _collected(results: _Results[R], threads: int, glance: float | None) -> Iterator[list[R]]:
    """An error is raised after the results that came before it were handed over."""
    error: Exception | None = None
    while threads and not (error and results.empty()):
        came = []
        with suppress(Empty):
            came.append(results.get(timeout=glance or _WAIT))
        while not results.empty():
            came.append(results.get())
        batch = [one.result for one in came if isinstance(one, _Done)]
        if batch or glance:
            yield batch
        ended = [one for one in came if isinstance(one, _Ended)]
        threads -= len(ended)
        error = error or next((one.error for one in ended if one.error), None)
    if error:
        raise error


def run_elsewhere(
    items: Iterable[T], work: Callable[[T], R], jobs: int
) -> Generator[list[R], None, None]:
    return run(items, work, jobs, glance=0.25)


EXECUTORS = {"local": run, "celery": run_elsewhere}  # where dispatches are carried out
