"""HTTP clients: one for each thread, and what is slow to make only once."""

from __future__ import annotations

import ssl
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest

from qrspi.world.agents.dispatch_context import Connections


@pytest.mark.rule("TRN-02")
def test_each_thread_has_its_own_and_all_share_the_certificates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[ssl.SSLContext] = []

    def load() -> ssl.SSLContext:
        loaded.append(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        return loaded[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", load)
    connections = Connections()
    together = Barrier(4)

    def ask(_: int) -> tuple[httpx.Client, httpx.Client]:
        together.wait()
        return connections.client("http://shop.test/v1"), connections.client("https://shop.test")

    with ThreadPoolExecutor(4) as pool:
        pairs = list(pool.map(ask, range(4)))
    assert len({id(client) for pair in pairs for client in pair}) == 8
    assert len(loaded) == 1
    own = connections.client("https://shop.test")
    assert connections.client("https://other.test/v1") is own
    connections.close()
    assert all(client.is_closed for pair in (*pairs, (own, own)) for client in pair)


@pytest.mark.rule("TRN-02")
def test_whoever_speaks_plain_http_loads_no_certificates_and_trusts_nobody() -> None:
    connections = Connections()
    connections.client("http://127.0.0.1:1/v1")
    (context,) = connections._contexts.values()
    assert (context.get_ca_certs(), context.verify_mode) == ([], ssl.CERT_REQUIRED)
    connections.close()
