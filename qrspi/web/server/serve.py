"""The server: on this machine only, until it is told to stop."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import uvicorn

from qrspi.cli.in_process import Commands
from qrspi.core.errors import Halt, Misuse
from qrspi.core.model import Problem
from qrspi.web.server import admission, application
from qrspi.web.server.admission import Door

_GRACE = 1  # seconds that open connections get at the end


def listening(host: str, port: int) -> socket.socket:
    if host not in admission.LOOPBACK:
        text = f"--host {host}: the page is for this machine only"
        expected = ", ".join(admission.LOOPBACK)
        raise Misuse(Problem("usage", text, "", "--host", host, expected, "qrspi ui"))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only where the protocol is named does asyncio switch off Nagle's delay. With it, half of all
    # answers wait 40 ms until the browser has confirmed their headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        text = f"cannot listen on {host}, port {port}: {error.strerror}"
        raise Halt(Problem("cannot-listen", text, "", "--port", hint="qrspi ui")) from None
    return listener


def serve(
    commands: Commands, listener: socket.socket, read_only: bool, announce: Callable[[str], None]
) -> None:
    """`announce` is given the address once it can be opened."""
    host, port = listener.getsockname()[:2]
    door = Door(port, secrets.token_urlsafe(32))
    site = application.site(commands, door, read_only=read_only)
    config = uvicorn.Config(
        application.application(site),
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # any request could claim in them to come from elsewhere
        timeout_graceful_shutdown=_GRACE,
        loop="asyncio",
        http="h11",
        ws="none",
    )
    listener.listen(128)
    named = f"[{host}]" if ":" in host else host
    announce(f"http://{named}:{port}/?token={door.token}")
    uvicorn.Server(config).run(sockets=[listener])
