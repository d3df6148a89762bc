"""The page as a real process, and a browser's side of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import COMMAND

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
def serving(project: Path, *options: str) -> Iterator[Server]:
    words = [str(COMMAND), "ui", "--port", "0", "--no-open", "--json", *options]
    process = subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, text=True, env={**os.environ}
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
