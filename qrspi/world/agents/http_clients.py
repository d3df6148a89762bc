"""HTTP clients for the threads of a fan-out.

One for each thread: a client that thirty share asks every idle connection, before each request
and after it, whether it still lives. What is dear to make, they share: the certificates take
30 ms to load, and where only plain HTTP is spoken they are not loaded at all.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx import Client

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0  # a model that thinks sends nothing until it has finished


class Connections:
    def __init__(self) -> None:
        self._own = threading.local()
        self._guard = threading.Lock()
        self._clients: list[Client] = []
        self._contexts: dict[str, SSLContext] = {}
        self._proxied: bool | None = None

    def client(self, url: str) -> Client:
        scheme = "http" if url.startswith("http://") else "https"
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
                trust_env=self._is_proxied(),
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
        """Looking through the environment takes a client longer than all the rest."""
        from urllib.request import getproxies

        if self._proxied is None:
            self._proxied = bool(getproxies())
        return self._proxied
