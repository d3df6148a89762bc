"""A real server on loopback that speaks chat completions, well or badly, as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple


class Said(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Behaviour = Callable[[BaseHTTPRequestHandler], None]


def completion(text: str = "NO_FINDINGS", **more: object) -> bytes:
    document = {
        "model": "some-model",
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        **more,
    }
    return json.dumps(document).encode()


def answer(
    body: bytes, status: int = 200, kind: str = "application/json", **headers: str
) -> Behaviour:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def cut(body: bytes, promised: int) -> Behaviour:
    """Promises more bytes than it sends, then hangs up."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(promised))
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return behave


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Ends the connection without a word."""
    handler.close_connection = True


Part = Literal["headers", "hints", "answer", "endless", "error", "bare"]
_OPENING: dict[Part, tuple[bytes, bytes]] = {
    "headers": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "hints": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "answer": (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b" "),
    "endless": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "error": (b"HTTP/1.1 503 No\r\nContent-Length: 99999\r\n\r\n", b" "),
    # Nothing but the end of the connection says that this one is whole.
    "bare": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + completion(), b" "),
}


def drip(part: Part) -> Behaviour:
    """Sends a little now and then, for as long as somebody listens."""
    opening, drop = _OPENING[part]

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        tick = threading.Event()
        with suppress(OSError):
            handler.wfile.write(opening)
            while not tick.wait(0.01):
                handler.wfile.write(drop)

    return behave


class Server(ThreadingHTTPServer):
    """Answers with one behaviour after another; the last one is repeated."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.said: list[Said] = []
        self.behaviours: list[Behaviour] = [answer(completion())]
        self.guard = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next_behaviour(self) -> Behaviour:
        with self.guard:
            return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        said = Said(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(data))
        self.server.said.append(said)
        self.server.next_behaviour()(self)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
