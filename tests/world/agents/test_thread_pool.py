"""Dispatches in threads."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.world.agents.thread_pool import EXECUTORS

run = EXECUTORS["local"]


@pytest.mark.rule("TRN-08")
def test_as_many_run_at_once_as_there_are_jobs() -> None:
    barrier = threading.Barrier(4, timeout=10)

    def work(item: int) -> int:
        barrier.wait()
        return item * 2

    batches = list(run(range(8), work, 4))
    assert sorted(item for batch in batches for item in batch) == list(range(0, 16, 2))


@pytest.mark.rule("TRN-09")
def test_an_item_is_asked_for_only_when_somebody_is_free() -> None:
    given: list[int] = []
    done: list[int] = []

    def items() -> Iterator[int]:
        for item in range(5):
            given.append(item - len(done))
            yield item

    for _ in run(items(), done.append, 1):
        pass
    assert (given, len(done)) == ([0] * 5, 5)


def test_a_broken_world_ends_the_whole() -> None:
    def work(item: int) -> int:
        if item == 1:
            raise Halt(Problem("cannot-write", "no space left"))
        return item

    with pytest.raises(Halt, match="no space left"):
        list(run(range(3), work, 1))


def test_a_bug_is_raised_after_every_result_that_has_come() -> None:
    threads: dict[int, threading.Thread] = {}
    all_know = threading.Barrier(4, timeout=10)
    may_end = [threading.Event() for _ in range(4)]

    def work(item: int) -> int:
        threads[item] = threading.current_thread()
        all_know.wait()
        may_end[item].wait(10)
        return item // (item != 1)

    def end(item: int) -> None:
        may_end[item].set()
        threads[item].join(10)

    results = iter(run(range(4), work, 4))
    may_end[0].set()
    assert next(results) == [0]
    end(1)
    end(2)
    assert next(results) == [2]
    end(3)
    assert next(results) == [3]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_whoever_stops_listening_stops_the_giving_out() -> None:
    given: list[int] = []
    proceed = threading.Event()

    def items() -> Iterator[int]:
        for item in range(1000):
            given.append(item)
            yield item

    def work(item: int) -> int:
        if item:
            proceed.wait(10)
        return item

    results = run(items(), work, 1)
    assert next(results) == [0]
    results.close()  # type: ignore[attr-defined]
    proceed.set()
    assert len(given) < 1000


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(run([], lambda item: item, 0)) == []


class Interrupted(BaseException):
    pass


def test_an_interrupt_that_does_not_wake_the_wait_is_heard() -> None:
    """As when it comes in the moment before the wait begins: here another thread takes it."""
    never, number = threading.Event(), signal.SIGUSR1
    main = threading.get_ident()

    def interrupted(_sign: int, _frame: FrameType | None) -> None:
        raise Interrupted

    def work(_item: int) -> None:
        while sys._current_frames()[main].f_code.co_name != "_collected":
            never.wait(0.01)
        never.wait(0.01)  # for it to go from its last line into the wait
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        never.wait(5)
        never.set()

    before = signal.signal(number, interrupted)
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        with pytest.raises(Interrupted):
            list(run(range(1), work, 1))
        assert not never.is_set()
    finally:
        never.set()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.signal(number, before)
