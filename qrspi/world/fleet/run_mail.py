"""A run's way to the workers, as long as one command lasts. One thread listens to the run's queue,
and hands each word to whoever waits for that job; it acknowledges a message when its answer is on
disk, and not before."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue

from qrspi.core.errors import Halt
from qrspi.core.fleet import job_message, queues, result_message
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.core.fleet.job_message import JobMessage
from qrspi.core.fleet.result_message import Started, TakenBack, Word
from qrspi.core.hints import Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.fleet import connection
from qrspi.world.fleet.connection import BrokerLost, Line

UNSERVED = 10.0  # seconds after which a queue without a worker is spoken of
PATIENCE = 120.0  # for a broker that is away while it is waited for
_GLANCE = 0.1  # seconds between looks at what is to be acknowledged
_AT_ONCE = 64  # messages that are held and not yet on disk
_ECHO = 5.0  # seconds within which our own word comes back


class Delivered(NamedTuple):
    """A word about a job; `kept` is told when it needs no second delivery."""

    word: Word
    kept: Callable[[], None]


class BrokerGone(NamedTuple):
    problem: Problem


class RunMail:
    """Used as a context. Opened before anything else is done: without a broker nothing is."""

    def __init__(
        self, where: BrokerAddress, machine: str, path: str, strangers: Callable[[Word], None]
    ) -> None:
        self._where = where
        self._strangers = strangers  # takes every word that no thread waits for
        self._queue = queues.of_run(machine, path)
        self.ticket = queues.ticket(os.urandom(32)).name
        self._waiting: dict[str, SimpleQueue[Delivered | BrokerGone]] = {}
        self._queued: dict[str, tuple[str, float]] = {}  # job: its vendor, and since when
        self._started: set[str] = set()
        self._guard = threading.Condition()
        self._publishing = threading.Lock()
        self._closing = threading.Event()
        self._kept: deque[tuple[Any, int]] = deque()  # channel and tag of what is on disk
        self._notes: deque[str] = deque()
        self._told: set[str] = set()
        self._vendors: set[str] = set()
        self._out = connection.connect(where, heartbeat=0)
        self._in = connection.connect(where)
        self._out.declare_run(self._queue)
        self._out.declare(queues.Queue(self.ticket, queues.ticket(b"").arguments))
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> RunMail:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._closing.set()
        if self._listener.is_alive():
            self._listener.join(2 * connection.SECONDS)
        if not self._listener.is_alive():
            self._in.close()
        if kind is None:
            # A command that ended well waits for nothing; after a failure a job may be wanted.
            with suppress(BrokerLost, TimeoutError):
                self._out.delete(self.ticket)
        self._out.close()
        if self._publishing.locked():
            self._publishing.release()
        self._tell_all(BrokerGone(_INTERRUPTED))

    @property
    def reply_queue(self) -> str:
        return self._queue.name

    def listen(self) -> None:
        """What came while nobody listened is dealt with before anything else."""
        while message := self._in.next_message(self._queue.name):
            if word := _word(message):
                self._strangers(word)
            with connection.reported():
                message.channel.basic_ack(message.delivery_tag)
        self._listener.start()

    def publish(self, message: JobMessage) -> None:
        with self._guard:
            self._waiting.setdefault(message.job, SimpleQueue())
        body = job_message.body(message)
        with self._publishing:
            if self._closing.is_set():
                raise BrokerLost("the command has ended")
            self._send(message, body)
        with self._guard:
            self._queued[message.job] = (message.vendor, time.monotonic())

    def _send(self, message: JobMessage, body: bytes) -> None:
        """By a new connection if the old one is gone: what was not confirmed is sent again."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                if message.vendor not in self._vendors:
                    self._out.declare_vendor(message.vendor)
                    self._vendors.add(message.vendor)
                headers = job_message.headers(message)
                exchange = queues.JOBS_EXCHANGE
                self._out.publish(body, exchange=exchange, to=message.vendor, headers=headers)
                return
            except (BrokerLost, TimeoutError):
                if time.monotonic() > until or self._closing.is_set():
                    raise
                self._out = self._again(self._out, heartbeat=0)

    @contextmanager
    def words(self, job: str) -> Iterator[Callable[[], Delivered | BrokerGone]]:
        with self._guard:
            slot = self._waiting.setdefault(job, SimpleQueue())
        try:
            yield slot.get
        finally:
            with self._guard:
                self._waiting.pop(job, None)
                self._queued.pop(job, None)

    def notes(self) -> Iterator[str]:
        while self._notes:
            yield self._notes.popleft()

    def take_back(self, tickets: frozenset[str]) -> frozenset[str] | None:
        """Gives the jobs that have started, or None when nobody can tell. A worker says that it
        starts before it looks for the ticket, so one that found it has spoken before our own
        message, awaited here."""
        self._publishing.acquire()  # until the end: a thread that would publish waits
        echo = Started(os.urandom(32).hex(), "engine")
        try:
            for ticket in {self.ticket, *tickets}:
                self._out.delete(ticket)
            self._out.publish(result_message.render(echo), to=self._queue.name)
        except (BrokerLost, TimeoutError):
            return None
        with self._guard:
            heard = self._guard.wait_for(lambda: echo.job in self._started, _ECHO)
            return frozenset(self._started) if heard else None

    # The listening thread

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                self._hear()
            except (BrokerLost, TimeoutError):
                if not self._closing.is_set() and not self._reconnected():
                    return
        with suppress(BrokerLost, TimeoutError):
            self._acknowledge()

    def _hear(self) -> None:
        self._in.declare_run(self._queue)
        with connection.reported():
            self._in.channel.basic_qos(0, _AT_ONCE, False)
            self._in.channel.basic_consume(self._queue.name, callback=self._heard)
        while not self._closing.is_set():
            self._in.drain(_GLANCE)
            self._acknowledge()
            self._in.keep_alive()
            self._look_for_workers()

    def _heard(self, message: Any) -> None:
        word = _word(message)
        # Only the listening thread may speak on its channel, so the others leave it a note.
        kept = partial(self._kept.append, (message.channel, message.delivery_tag))
        if word is None:
            kept()
            return
        with self._guard:
            self._note_progress(word)
            if slot := self._waiting.get(word.job):
                slot.put(Delivered(word, kept))
            else:
                # The guard is held, so that a thread that begins to wait for it finds it on disk.
                self._strangers(word)
                kept()

    def _note_progress(self, word: Word) -> None:
        if isinstance(word, Started):
            self._started.add(word.job)
            self._queued.pop(word.job, None)
            self._guard.notify_all()
        elif isinstance(word, TakenBack):
            self._started.discard(word.job)

    def _acknowledge(self) -> None:
        while self._kept:
            channel, tag = self._kept.popleft()
            if channel is self._in.channel:  # of an earlier one the broker delivers it again
                with connection.reported():
                    channel.basic_ack(tag)

    def _reconnected(self) -> bool:
        try:
            self._in = self._again(self._in)
        except BrokerLost:
            text = f"the broker {self._where.shown} was lost while its answer was awaited"
            text += "; it is not lost there"
            hint = "run the same command again"
            self._tell_all(BrokerGone(Problem("broker-lost", text, hint=hint)))
            return False
        return True

    def _tell_all(self, word: BrokerGone) -> None:
        with self._guard:
            slots = tuple(self._waiting.values())  # whoever is told leaves it
        for slot in slots:
            slot.put(word)

    def _again(self, line: Line, heartbeat: float = connection.HEARTBEAT) -> Line:
        line.close()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not self._closing.is_set():
            with suppress(Halt):
                return connection.connect(self._where, heartbeat)
            self._closing.wait(0.5)
        raise BrokerLost("the broker did not come back")

    def _look_for_workers(self) -> None:
        now = time.monotonic()
        with self._guard:
            late = {vendor for vendor, since in self._queued.values() if now - since > UNSERVED}
        for vendor in late - self._told:
            self._told.add(vendor)
            standing = self._in.standing(queues.of_vendor(vendor).name)
            if standing is None or not standing.consumers:
                self._notes.append(
                    f"no worker serves {vendor}: jobs wait in the broker for 24 hours; start one "
                    f"with `qrspi worker` on a machine whose worker.toml allows {vendor}"
                )


def _word(message: Any) -> Word | None:
    """A stranger's message may have no headers at all."""
    return result_message.read(message.body, message.headers or {})


_INTERRUPTED = Problem("transport-interrupted", "the command ended while a worker was at it")
