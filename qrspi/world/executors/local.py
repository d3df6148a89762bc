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

_Results = SimpleQueue[tuple[T, R] | Refusal | None]


def run(items: Iterable[T], work: Callable[[T], R], jobs: int) -> Iterator[tuple[T, R]]:
    """Results as they come. An item is asked for when a thread is free for it, and not before:
    whoever gives the items out can stop with what is known by then."""
    source: _Source[T] = _Source(items)
    results: _Results[T, R] = SimpleQueue()
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


def _labour(source: _Source[T], work: Callable[[T], R], results: _Results[T, R]) -> None:
    try:
        for item in source.draw():
            results.put((item, work(item)))
    except Refusal as refusal:
        results.put(refusal)
    finally:
        results.put(None)


def _collected(results: _Results[T, R], threads: int) -> Iterator[tuple[T, R]]:
    while threads:
        result = results.get()
        if result is None:
            threads -= 1
        elif isinstance(result, Refusal):
            raise result
        else:
            yield result
