"""Which user of this machine is at the other end of a connection over loopback. Whoever learned a
secret address from a list of processes, or a cookie, still comes from their own account."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from qrspi.core.named_tuple import NamedTuple

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_ESTABLISHED, _LISTENS = "01", "0A"
_SIX = "00000000000000000000000001000000"  # ::1, each four bytes in the machine's order
_MAPPED = "0000000000000000FFFF0000"


class Socket(NamedTuple):
    address: str  # as the kernel writes it
    port: int
    peer_port: int
    state: str
    user: int


def is_another(host: str, port: int, own_port: int) -> bool:
    """Not where the system does not tell: then our own socket is not in the list either."""
    return judged(_sockets(), (host, port), own_port, os.geteuid())


def judged(sockets: Iterable[Socket], peer: tuple[str, int], own_port: int, user: int) -> bool:
    known = tuple(sockets)
    if not any(socket.port == own_port and socket.state == _LISTENS for socket in known):
        return False
    ends = [
        one
        for one in known
        if (one.port, one.peer_port) == (peer[1], own_port) and one.address in _spelt(peer[0])
    ]
    return not any(_may(one, user) for one in ends)


def _may(socket: Socket, user: int) -> bool:
    """What root forwards is the user's own doing. A socket that was closed is root's, too."""
    return socket.state == _ESTABLISHED if socket.user == 0 else socket.user == user


def _spelt(host: str) -> tuple[str, ...]:
    if ":" in host:
        return (_SIX,)
    four = "".join(f"{int(part):02X}" for part in reversed(host.split(".")))
    return (four, _MAPPED + four)


def _sockets() -> Iterator[Socket]:
    for table in _TABLES:
        with suppress(OSError), open(table, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                yield _read(line.split())


def _read(words: list[str]) -> Socket:
    (address, port), (_, peer_port) = (word.split(":") for word in words[1:3])
    return Socket(address, int(port, 16), int(peer_port, 16), words[3], int(words[7]))
