from __future__ import annotations

import socket
from pathlib import Path

import pytest

from qrspi.world.machine import peer_user
from qrspi.world.machine.peer_user import Socket

pytestmark = pytest.mark.rule("WEB-11", "SEC-06")
PAGE = Socket("0100007F", 80, 0, "0A", 7)
HERE = ("127.0.0.1", 5000)


def end(user: int, state: str = "01", address: str = "0100007F") -> Socket:
    return Socket(address, 5000, 80, state, user)


@pytest.mark.parametrize(
    ("sockets", "another"),
    [
        ((PAGE, end(7)), False),
        ((PAGE, end(8)), True),
        ((PAGE, end(0)), False),
        # closed by its process, which is why it is root's
        ((PAGE, end(0, "05")), True),
        # gone already
        ((PAGE,), True),
        # of another address of this machine
        ((PAGE, end(7, address="0200007F")), True),
        ((PAGE, end(7, address="0000000000000000FFFF00000100007F")), False),
        # the system does not list our own either
        ((), False),
        ((end(8),), False),
    ],
)
def test_whose_it_is(sockets: tuple[Socket, ...], another: bool) -> None:
    assert peer_user.judged(sockets, HERE, 80, 7) is another


def test_what_was_closed_is_not_taken_for_roots_own() -> None:
    sockets = (PAGE._replace(user=0), end(0, "05"))
    assert peer_user.judged(sockets, HERE, 80, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="the system does not tell")
def test_our_own_connection_is_ours(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as page:
        page.bind((host, 0))
        page.listen()
        port = page.getsockname()[1]
        with socket.create_connection((host, port)) as ours:
            assert not peer_user.is_another(host, ours.getsockname()[1], port)
            assert peer_user.is_another(host, port, port)
