"""A deadline for a whole exchange over HTTP. The library's timeout is about one read, which a
server that sends a byte now and then never triggers; a timer here shuts the connection down."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from qrspi.core.hints import Any, Self


class ExchangeDeadline:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.passed = False
        self._end = time.monotonic() + seconds
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """As the HTTP library calls it. TLS puts another socket in the first one's place."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._guard:
                self._socket = info["return_value"].get_extra_info("socket")
                if self.passed:
                    self._shut_down()

    def _pass(self) -> None:
        with self._guard:
            self.passed = True
            self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # closed already
                # Not the method of a TLS socket, which would take it away under its reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
