"""Dispatches in threads of this process.

Not a ThreadPoolExecutor: its threads are joined when the interpreter ends, and ^C would wait
for the slowest model. These are daemons; what they have not handed over by then is sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from qrspi.core.errors import Refusal

T = TypeVar("T")
R = TypeVar("R")


class _Done(NamedTuple, Generic[R]):
    result: R


class _Ended(NamedTuple):
    """A thread has no more to do, or could not go on."""

    refusal: Refusal | None = None


_Results = SimpleQueue[_Done[R] | _Ended]


def run(items: Iterable[T], work: Callable[[T], R], jobs: int) -> Iterator[list[R]]:
    """Results as they come, those that came together in one list. An item is asked for when a
    thread is free for it, and not before: whoever gives them out can stop with what is known
    by then."""
    source: _Source[T] = _Source(items)
    results: _Results[R] = SimpleQueue()
    threads = [
        threading.Thread(target=_labour, args=(source, work, results), daemon=True)
        for _ in range(jobs)
    ]
    for thread in threads:
        thread.start()
    try:
        yield from _collected(results, len(threads))
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


def _labour(source: _Source[T], work: Callable[[T], R], results: _Results[R]) -> None:
    ended = _Ended()
    try:
        for item in source.draw():
            results.put(_Done(work(item)))
    except Refusal as refusal:
        ended = _Ended(refusal)
    finally:
        results.put(ended)


def _collected(results: _Results[R], threads: int) -> Iterator[list[R]]:
    while threads:
        came = [results.get()]
        while not results.empty():
            came.append(results.get())
        if batch := [one.result for one in came if isinstance(one, _Done)]:
            yield batch
        ended = [one for one in came if isinstance(one, _Ended)]
        threads -= len(ended)
        for one in ended:
            if one.refusal:
                raise one.refusal
