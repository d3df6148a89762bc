"""Dispatches in threads of this process.

Not a ThreadPoolExecutor: its threads are joined when the interpreter ends, and ^C would wait
for the slowest model. These are daemons; what they have not handed over by then is sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

from qrspi.core.refusal import Refusal

T = TypeVar("T")
R = TypeVar("R")

_Results = SimpleQueue[R | Refusal | None]


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
    try:
        for item in source.draw():
            results.put(work(item))
    except Refusal as refusal:
        results.put(refusal)
    finally:
        results.put(None)


def _collected(results: _Results[R], threads: int) -> Iterator[list[R]]:
    while threads:
        came = [results.get()]
        while not results.empty():
            came.append(results.get())
        threads -= came.count(None)
        refusals = [one for one in came if isinstance(one, Refusal)]
        if batch := [one for one in came if one is not None and not isinstance(one, Refusal)]:
            yield batch
        if refusals:
            raise refusals[0]
