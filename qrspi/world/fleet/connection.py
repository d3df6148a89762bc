"""The one door to a broker. The library knows no threads: a connection is used by one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from qrspi.core.errors import Halt, Refusal
from qrspi.core.fleet import broker_address, queues
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.core.fleet.queues import Queue
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from amqp import Channel, Connection, Message

SECONDS = 4.0  # to answer when it is spoken to
HEARTBEAT = 10
_OF_CONNECTIONS = 10  # AMQP's number for what is asked about a connection, the least of all


class BrokerLost(Exception):
    """The connection is gone, or what was asked did not come back in time."""


def address(
    environment: Mapping[str, str], longest: float = broker_address.LONGEST_CALL
) -> BrokerAddress:
    read = broker_address.read(environment.get(broker_address.VARIABLE, ""), longest)
    if isinstance(read, Problem):
        raise (Halt if read.code == "broker-unset" else Refusal)(read)
    return read


def library() -> Any:
    try:
        import amqp
    except ModuleNotFoundError:
        text = "amqp is not installed, which workers and their engine speak: "
        hint = "pip install 'qrspi[celery]'"
        raise Halt(Problem("not-installed", f"{text}{hint}", hint=hint)) from None
    return amqp


class Line:
    def __init__(self, connection: Connection, channel: Channel) -> None:
        self._connection = connection
        self.channel = channel
        self._asking: Channel | None = None  # of its own: the broker closes it for a bad question

    def declare(self, queue: Queue) -> None:
        with reported():
            self.channel.queue_declare(
                queue.name, durable=True, auto_delete=False, arguments=queue.arguments
            )

    def declare_vendor(self, vendor: str) -> None:
        queue = queues.of_vendor(vendor)
        self.declare(queue)
        with reported():
            self.channel.queue_bind(queue.name, queues.JOBS_EXCHANGE, vendor)

    def declare_run(self, queue: Queue) -> None:
        self.declare(queue)
        match = {"x-match": "all", queues.REPLY_HEADER: queue.name}
        with reported():
            self.channel.queue_bind(queue.name, queues.DEAD_EXCHANGE, "", arguments=match)

    def publish(
        self,
        body: bytes,
        *,
        exchange: str = "",
        to: str,
        headers: Mapping[str, object] = {},
        lasting: bool = True,
    ) -> None:
        """Back when the broker has it safe; what need not outlast a restart it has at once."""
        amqp = library()
        message = amqp.Message(
            body,
            content_type="application/json",
            content_encoding="utf-8",
            delivery_mode=2 if lasting else 1,
            application_headers=dict(headers),
        )
        with reported():
            self.channel.basic_publish_confirm(
                message, exchange, to, timeout=SECONDS * 4, confirm_timeout=SECONDS * 4
            )

    def is_there(self, name: str) -> bool:
        return self.standing(name) is not None

    def standing(self, name: str) -> QueueState | None:
        amqp = library()
        with reported():
            self._asking = self._asking or self._connection.channel()
            try:
                declared = self._asking.queue_declare(name, passive=True)
            except amqp.exceptions.NotFound:
                self._asking = None
                return None
        return QueueState(declared.message_count, declared.consumer_count)

    def delete(self, name: str) -> None:
        with reported():
            self.channel.queue_delete(name)

    def drain(self, seconds: float) -> bool:
        try:
            with reported():
                self._connection.drain_events(timeout=seconds)
        except TimeoutError:
            return False
        return True

    def keep_alive(self) -> None:
        with reported():
            self._connection.heartbeat_tick()

    def next_message(self, queue: str) -> Message | None:
        with reported():
            return self.channel.basic_get(queue)

    def close(self) -> None:
        try:
            with reported():
                self._connection.close()
        except (BrokerLost, TimeoutError):
            self._connection.collect()


class QueueState(NamedTuple):
    waiting: int
    consumers: int


@contextmanager
def reported() -> Iterator[None]:
    amqp = library()
    try:
        yield
    except TimeoutError:
        raise
    except (amqp.exceptions.AMQPError, OSError) as error:
        raise BrokerLost(type(error).__name__) from None


def connect(where: BrokerAddress, heartbeat: float = HEARTBEAT) -> Line:
    """The library bounds each step by itself, and a name's lookup not at all. So a thread takes all
    of them, and is left behind when they take too long together."""
    connection = _connection(where, heartbeat)
    ended: SimpleQueue[Line | Halt] = SimpleQueue()
    late = threading.Event()

    def reach() -> None:
        opened = _reached(where, connection)
        ended.put(opened)
        if late.is_set() and isinstance(opened, Line):
            opened.close()

    threading.Thread(target=reach, daemon=True).start()
    try:
        outcome = ended.get(timeout=SECONDS)
    except Empty:
        late.set()
        raise Halt(_unreachable(where, TimeoutError())) from None
    if isinstance(outcome, Halt):
        raise outcome
    return outcome


def _connection(where: BrokerAddress, heartbeat: float) -> Connection:
    found: Connection = library().Connection(
        host=where.place,
        userid=where.user,
        password=where.password,
        login_method="PLAIN",
        virtual_host=where.vhost,
        ssl=tls(where),
        connect_timeout=SECONDS,
        read_timeout=SECONDS * 4,
        write_timeout=SECONDS * 4,
        heartbeat=heartbeat,
        client_properties={"connection_name": f"qrspi-{os.getpid()}"},
    )
    return found


def _reached(where: BrokerAddress, connection: Connection) -> Line | Halt:
    amqp = library()
    try:
        connection.connect()
        channel = connection.channel()
        channel.auto_decode = False  # a body is bytes, whatever its sender calls it
        channel.confirm_select()
        for name, kind in ((queues.JOBS_EXCHANGE, "direct"), (queues.DEAD_EXCHANGE, "headers")):
            channel.exchange_declare(name, kind, durable=True, auto_delete=False)
    except amqp.exceptions.AMQPError as error:
        return Halt(_refused(where, error))
    except OSError as error:
        return Halt(_unreachable(where, error))
    return Line(connection, channel)


def tls(where: BrokerAddress) -> dict[str, object] | bool:
    """As the library wants it: its certificate must be signed, and for this very host."""
    if not where.tls:
        return False
    _check_authority(where)
    believed = {"cafile": where.authority or None, "check_hostname": True}
    # Wrapped without a greeting: the library greets after that, and only then within a time limit.
    named = {"context": believed, "server_hostname": where.host}
    return {**named, "do_handshake_on_connect": False}


def _check_authority(where: BrokerAddress) -> None:
    import ssl

    try:
        ssl.create_default_context(cafile=where.authority or None)
    except OSError as error:
        why = "no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        text = f"{where.authority}: {why}; expected the certificates of the broker's authority"
        raise Refusal(Problem("broker-address", text, file=where.authority)) from None


def _refused(where: BrokerAddress, error: Exception) -> Problem:
    """The broker's own words may repeat the user's name."""
    if why := _refusal(error):
        return Problem("broker-refused", f"{where.shown}: {why}", field=broker_address.VARIABLE)
    text = f"{where.shown} does not speak as a broker does ({type(error).__name__})"
    return Problem("broker-unreachable", text, field=broker_address.VARIABLE)


def _refusal(error: Exception) -> str:
    kind, asked = type(error).__name__, getattr(error, "method_sig", None) or (0, 0)
    if kind == "NotAllowed":
        return "the virtual host is not there, or this user may not enter it"
    if kind == "AccessRefused" and asked[0] > _OF_CONNECTIONS:
        return "this user may not declare queues and exchanges that begin with qrspi"
    return "it refuses this user or password" if kind == "AccessRefused" else ""


def _unreachable(where: BrokerAddress, error: OSError) -> Problem:
    why = getattr(error, "verify_message", "") or error.strerror or type(error).__name__
    if isinstance(error, TimeoutError):
        why = f"no answer within {SECONDS:g} s"
    text = f"the broker {where.shown} cannot be reached: {why}"
    return Problem("broker-unreachable", text, field=broker_address.VARIABLE)
