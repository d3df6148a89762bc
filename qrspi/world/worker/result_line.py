"""A worker's words to the engines that wait, over a connection of its own, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from qrspi.core.errors import Halt
from qrspi.core.fleet import result_message
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.core.fleet.result_message import Answered, Started, TakenBack
from qrspi.world.fleet import connection
from qrspi.world.fleet.connection import BrokerLost, Line


class ResultLine:
    """A broker that is away is waited for, until the worker ends: what was paid for is worth it."""

    def __init__(self, where: BrokerAddress, stop: threading.Event) -> None:
        self._where = where
        self._stop = stop
        self._guard = threading.Lock()
        self._line: Line | None = connection.connect(where, heartbeat=0)

    def declare(self, vendors: tuple[str, ...]) -> None:
        with self._guard:
            for vendor in vendors:
                self._tried(partial(Line.declare_vendor, vendor=vendor))

    def say(self, word: Started | TakenBack | Answered, queue: str) -> None:
        """Back when the broker has it safe. A queue that is gone was waited for too long."""
        body = result_message.render(word)
        with self._guard:
            lasting = not isinstance(word, Started)
            self._tried(lambda line: line.publish(body, to=queue, lasting=lasting))

    def is_there(self, queue: str) -> bool:
        states: list[bool] = []
        with self._guard:
            self._tried(lambda line: states.append(line.is_there(queue)))
        return states[-1]

    def _tried(self, work: Callable[[Line], object]) -> None:
        while True:
            try:
                self._line = self._line or connection.connect(self._where, heartbeat=0)
                work(self._line)
                return
            except (BrokerLost, TimeoutError, Halt):
                if self._line:
                    with suppress(BrokerLost, TimeoutError):
                        self._line.close()
                self._line = None
                if self._stop.wait(1.0):
                    raise BrokerLost("the worker ends") from None
