"""What one command's dispatches share while they wait: processes, connections, the way to stop."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping

from qrspi.core.hints import TYPE_CHECKING, Self
from qrspi.core.text import redaction
from qrspi.world.processes.children import Children

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx import Client

    from qrspi.world.fleet.run_mail import RunMail

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0  # a model that thinks sends nothing until it has finished


class DispatchContext:
    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        pause: Callable[[float], None] | None = None,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
        key_names: tuple[str, ...] = (),
        scripts: str = "",
        mail: RunMail | None = None,
    ) -> None:
        self.environment = os.environ if environment is None else environment
        self.stop = threading.Event()
        self.children = Children()
        self.chance = chance
        self.clock = clock
        self.scripts = scripts
        self.mail = mail
        self.keys = redaction.known(self.environment, key_names)
        self._pause = pause
        self.connections = Connections()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.children.end_all()
        self.connections.close()

    def pause(self, seconds: float) -> None:
        if self._pause is not None:
            self._pause(seconds)
        else:
            self.stop.wait(seconds)

    def redacted(self, text: str) -> str:
        return redaction.redacted(text, self.keys)


class Connections:
    """A client for each thread and a connection for each exchange: ending one ends nothing else.
    Certificates take 30 ms to load, so all share them, and plain HTTP needs none."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._guard = threading.Lock()
        self._clients: list[Client] = []
        self._contexts: dict[str, SSLContext] = {}
        self._proxied: bool | None = None

    def client(self, url: str) -> Client:
        scheme = "http" if url.lower().startswith("http://") else "https"
        known: dict[str, Client] = self._own.__dict__
        if scheme not in known:
            known[scheme] = self._made(scheme)
        return known[scheme]

    def close(self) -> None:
        with self._guard:
            for client in self._clients:
                client.close()

    def _made(self, scheme: str) -> Client:
        import httpx

        with self._guard:
            client = httpx.Client(
                timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
                verify=self._context(scheme),
                # Plain HTTP stays on this machine: a proxy would carry the key away from it.
                trust_env=scheme == "https" and self._is_proxied(),
                limits=httpx.Limits(max_keepalive_connections=0),
                # A redirect would carry the key to wherever it leads.
                follow_redirects=False,
            )
            self._clients.append(client)
        return client

    def _context(self, scheme: str) -> SSLContext:
        import ssl

        import httpx

        if scheme not in self._contexts:
            # Without certificates a context trusts nobody.
            empty = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._contexts[scheme] = empty if scheme == "http" else httpx.create_ssl_context()
        return self._contexts[scheme]

    def _is_proxied(self) -> bool:
        """Asked once for all: looking through the environment is the slowest part of a client."""
        from urllib.request import getproxies

        if self._proxied is None:
            self._proxied = bool(getproxies())
        return self._proxied
