"""A real RabbitMQ as an ordinary process, with everything of it in one folder: started, stopped,
killed and started again by tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qrspi.core.fleet import broker_address
from qrspi.core.fleet.broker_address import BrokerAddress
from qrspi.world.fleet import connection
from qrspi.world.fleet.connection import QueueState
from tests.patience import until

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
STARTING = 120.0  # seconds, on a machine with other things to do
PASSWORD = "guest"


def free_ports(count: int) -> list[int]:
    """Below those that the kernel gives to connections, and apart from other processes' own."""
    found: list[int] = []
    at = 20_000 + os.getpid() * 32 % 8000
    while len(found) < count:
        at += 1
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", at)) != 0:
                found.append(at)
    return found


class Broker:
    def __init__(self, folder: Path, config: str = "", tls: bool = False) -> None:
        self.folder = folder
        self.tls = tls
        self.port, self.tls_port, self._distribution, self._names = free_ports(4)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plugins").write_text("[].")
        listens = f"listeners.tcp.1 = 127.0.0.1:{self.port}\nloopback_users.guest = true\n"
        (folder / "rabbitmq.conf").write_text(
            f"{listens}{config}".replace("TLSPORT", str(self.tls_port))
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:{PASSWORD}@127.0.0.1:{self.port}/"

    @property
    def address(self) -> BrokerAddress:
        found = broker_address.read(self.url)
        assert isinstance(found, BrokerAddress)
        return found

    def _environment(self) -> dict[str, str]:
        own = {
            "RABBITMQ_NODENAME": f"qrspi{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "ERL_EPMD_PORT": str(self._names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "HOME": str(self.folder),
        }
        return {"PATH": os.environ["PATH"], **own}

    def start(self) -> None:
        log = (self.folder / "output").open("ab")
        self._process = subprocess.Popen(
            [SERVER], env=self._environment(), stdout=log, stderr=log, start_new_session=True
        )
        log.close()
        until(self._answers, "the broker answers", STARTING)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "output").read_text()
        return self._listens()

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """The process is a shell, and Erlang below it may still listen when the shell is gone."""
        assert self._process is not None
        os.killpg(self._process.pid, number)
        self._process.wait(60)
        until(lambda: not self._listens(), "the broker is gone", STARTING)

    def restart(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.end(number)
        self.start()

    def remembers(self, queue: str) -> bool:
        """Whether a quorum queue outlasts a kill. RabbitMQ keeps the list of them in a table that
        it saves half a second after a change; what was declared since then comes back without a
        leader, and stays so."""
        tables = (self.folder / "mnesia").glob("*/quorum/*/names.dets")
        return any(queue.encode() in table.read_bytes() for table in tables)

    def close(self) -> None:
        self.end(signal.SIGKILL)
        subprocess.run(
            ["epmd", "-port", str(self._names), "-kill"],
            env=self._environment(),
            capture_output=True,
        )

    def standing(self, queue: str) -> QueueState | None:
        line = connection.connect(self.address)
        try:
            return line.standing(queue)
        finally:
            line.close()

    def new_user(self, name: str, may: str = ".*") -> str:
        """The password of a user that may do everything here, or with such names alone."""
        word = os.urandom(12).hex()
        for words in (("add_user", name, word), ("set_permissions", name, may, may, may)):
            tool = SERVER.with_name("rabbitmqctl")
            done = subprocess.run(
                [tool, *words], env=self._environment(), capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
        return word

    def delete(self, queue: str) -> None:
        line = connection.connect(self.address)
        line.delete(queue)
        line.close()


@contextmanager
def mute() -> Iterator[int]:
    """A port that accepts, and never says a word."""
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    held.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
    for one in held:
        one.close()
