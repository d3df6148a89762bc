"""The worker as Celery runs it. Celery logs what it does not know word for word, and hands
arguments to all that listen to its events; so every message is judged here first."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from amqp.exceptions import AMQPError
from celery import Celery
from celery.exceptions import Reject
from celery.signals import setup_logging
from celery.worker.consumer import Consumer
from kombu import Exchange, Queue

from qrspi.core.errors import Refusal
from qrspi.core.fleet import job_message, queues
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.core.fleet.job_message import TASK, Envelope
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.fleet import connection
from qrspi.world.fleet.connection import BrokerLost
from qrspi.world.worker.job_calls import JobCalls


class Setup(NamedTuple):
    name: str
    where: BrokerAddress
    vendors: tuple[str, ...]
    concurrency: int  # calls at once, for each vendor
    calls: JobCalls
    log: Callable[[str], None]
    end_calls: Callable[[], None]  # at once, whatever they are at


def run(setup: Setup) -> int:
    app = _app(setup)
    _say_in_one_line(setup.log)

    def call(fields: Mapping[str, object]) -> None:
        try:
            setup.calls.carry_out(job_message.from_fields(fields))
        except (Refusal, BrokerLost):
            # Told to end at once: another worker takes the job over.
            raise Reject("the worker ends", requeue=True) from None

    app.task(call, name=TASK, acks_late=True, reject_on_worker_lost=True, ignore_result=True)
    worker = app.Worker(
        hostname=setup.name,
        concurrency=setup.concurrency * len(setup.vendors),
        pool="threads",
        loglevel="CRITICAL",
        without_gossip=True,
        without_mingle=True,
        quiet=True,
    )
    _end_by_signals(worker, setup)
    worker.start()
    return int(worker.exitcode or 0)


def _say_in_one_line(log: Callable[[str], None]) -> None:
    """Celery would tell of a lost connection with a traceback, and then mend it by itself."""
    setup_logging.connect(lambda **_: None, weak=False)  # nor does it choose where to write
    for name in ("celery", "kombu", "amqp", _LOG.name):
        logger = logging.getLogger(name)
        logger.handlers = [_OneLine(log)]
        logger.propagate = False


class _OneLine(logging.Handler):
    """Only the kind of an error: what it says may quote a message or an address."""

    def __init__(self, log: Callable[[str], None]) -> None:
        super().__init__(logging.CRITICAL)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, OSError | AMQPError):
            self._log(f"an error of Celery's: {type(error).__name__}")


def _app(setup: Setup) -> Any:
    where = setup.where
    app = Celery("qrspi", set_as_current=False)
    exchange = Exchange(queues.JOBS_EXCHANGE, type="direct", durable=True)
    app.conf.update(
        broker_url="amqp://",  # replaced below: a URL would be shown in messages
        broker_read_url=_url(where),
        broker_write_url=_url(where),
        broker_use_ssl=connection.tls(where) or None,
        broker_heartbeat=connection.HEARTBEAT,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_queues=[_queue(vendor, exchange) for vendor in setup.vendors],
        task_create_missing_queues=False,
        task_ignore_result=True,
        accept_content=["json"],
        task_serializer="json",
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_consumer=_consumer(setup),
    )
    return app


def _url(where: BrokerAddress) -> str:
    from urllib.parse import quote

    who = f"{quote(where.user, safe='')}:{quote(where.password, safe='')}"
    return f"{where.scheme}://{who}@{where.place}/{quote(where.vhost, safe='')}"


def _queue(vendor: str, exchange: Exchange) -> Queue:
    queue = queues.of_vendor(vendor)
    return Queue(queue.name, exchange, vendor, durable=True, queue_arguments=queue.arguments)


def _consumer(setup: Setup) -> type[Consumer]:
    class JobConsumer(Consumer):
        class Blueprint(Consumer.Blueprint):
            # Nothing here is delayed, and nobody gossips.
            default_steps = [  # noqa: RUF012
                step
                for step in Consumer.Blueprint.default_steps
                if not step.endswith((":DelayedDelivery", ":Gossip", ":Mingle", ":Agent"))
            ]

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            # For each queue, as quorum queues know no limit for all of a connection.
            self.initial_prefetch_count = setup.concurrency
            self._bell = _Bell(self.hub)

        def create_task_handler(self, *args: Any, **options: Any) -> Callable[[Any], None]:
            accept = super().create_task_handler(*args, **options)

            def receive(message: Any) -> None:
                judged = job_message.read(_envelope(message))
                if isinstance(judged, Problem):
                    setup.log(f"refused a message: {judged.message}")
                    message.reject_log_error(_LOG, self.connection_errors)
                else:
                    accept(message)

            return receive

        def call_soon_ack(self, *args: Any, **options: Any) -> Any:
            """The loop sleeps for up to a second: a finished job would keep its place as long."""
            result = super().call_soon_ack(*args, **options)
            self._bell.ring()
            return result

    return JobConsumer


class _Bell:
    def __init__(self, hub: Any) -> None:
        self._reader, self._writer = os.pipe()
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)
        hub.add_reader(self._reader, self._heard)

    def ring(self) -> None:
        try:
            os.write(self._writer, b"!")
        except BlockingIOError:
            return  # it rings already

    def _heard(self, *_: object) -> None:
        try:
            os.read(self._reader, 4096)
        except BlockingIOError:
            return


_LOG = logging.getLogger("qrspi.worker")


def _envelope(message: Any) -> Envelope:
    body = message.body
    return Envelope(
        str(message.content_type or ""),
        str(message.content_encoding or ""),
        message.headers if isinstance(message.headers, dict) else {},
        body.encode(errors="surrogateescape") if isinstance(body, str) else bytes(body),
    )


def _end_by_signals(worker: Any, setup: Setup) -> None:
    """Asked once, it finishes what it is at; asked again, it hands that back."""
    from celery.worker import state

    event = threading.Event()

    def end(*_: object) -> None:
        if event.is_set():
            setup.end_calls()
            state.should_terminate = 0
        else:
            event.set()
            setup.log("no new jobs: calls at hand are finished, a second signal hands them back")
            state.should_stop = 0

    def install(_: Any) -> None:
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, end)

    worker.install_platform_tweaks = install
