"""The page as a real process, and a browser's side of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.forked_command import qrspi

for _library in ("starlette", "uvicorn", "jinja2", "nh3", "httpx"):
    pytest.importorskip(_library)

import httpx  # noqa: E402


class Server(NamedTuple):
    url: str  # with the token
    process: subprocess.Popen[str]
    client: httpx.Client  # let in, as a browser is

    @property
    def base(self) -> str:
        found = urlsplit(self.url)
        return f"{found.scheme}://{found.netloc}"

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    def post(self, path: str, **fields: str) -> httpx.Response:
        return self.client.post(path, data=fields, headers={"Sec-Fetch-Site": "same-origin"})


@contextmanager
def serving(
    project: Path, *options: str, port: int = 0, command: Path | None = None, **env: str
) -> Iterator[Server]:
    words = [str(command or qrspi()), "ui", "--port", str(port), "--no-open", "--json", *options]
    process = subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, text=True, env=os.environ | env
    )
    assert process.stdout
    url = json.loads(process.stdout.readline())["url"]
    base = url.partition("/?")[0]
    with httpx.Client(base_url=base, timeout=60) as client:
        entered = client.get(url)
        assert entered.status_code == 200
        try:
            yield Server(url, process, client)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
            process.stdout.close()


class Wire:
    """What lies between a browser and a server, and can be cut. The server is told its own name:
    it talks to nobody who came by another one."""

    def __init__(self, server: Server) -> None:
        self._to = server.port
        self._open: list[socket.socket] = []
        self._door = self._listen(0)
        self.port = int(self._door.getsockname()[1])
        self.server = server._replace(url=server.url.replace(f":{self._to}/", f":{self.port}/"))

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def cut(self) -> None:
        """Both ends notice, and nobody gets through."""
        for one in (self._door, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def mend(self) -> None:
        self._door = self._listen(self.port)

    def _listen(self, port: int) -> socket.socket:
        made = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._meet, args=(made,), daemon=True).start()
        return made

    def _meet(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, far = door.accept()[0], socket.create_connection(("127.0.0.1", self._to))
                self._open += (near, far)
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while data := here.recv(65536):
                there.sendall(data.replace(b":%d\r\n" % self.port, b":%d\r\n" % self._to))
            there.shutdown(socket.SHUT_RDWR)


CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, through Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium here: `make system` installs it where it may")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def tab(browser: Any, server: Server, **options: Any) -> Iterator[Any]:
    """A page that was let in; whatever the browser complains about fails the test."""
    context = browser.new_context(base_url=server.base, **options)
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.on("dialog", lambda dialog: wrong.append(dialog.message) or dialog.dismiss())
    opened.goto(server.url)
    opened.wait_for_url(f"{server.base}/")
    yield opened
    context.close()
    assert [one for one in wrong if one not in EXPECTED] == []


# What the browser says of a refusal, and of a server that is gone.
EXPECTED = (
    "Failed to load resource: the server responded with a status of 409 (Conflict)",
    "Failed to load resource: the server responded with a status of 404 (Not Found)",
    "Failed to load resource: the server responded with a status of 401 (Unauthorized)",
    *(
        f"Failed to load resource: net::ERR_{why}"
        for why in (
            "CONNECTION_REFUSED",
            "CONNECTION_RESET",
            "EMPTY_RESPONSE",
            "INCOMPLETE_CHUNKED_ENCODING",
            "SOCKET_NOT_CONNECTED",
        )
    ),
)
