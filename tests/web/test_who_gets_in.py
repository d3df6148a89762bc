"""Requests that no page of ours sends, one kind after the other, to a real server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import runs, scenes
from tests.cli.conftest import COMMAND
from tests.web.conftest import Server, serving

OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = scenes.clean(tmp_path_factory.mktemp("shop"))
    scenes.advance(found)
    return found


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[Server]:
    with serving(run.parents[2]) as found:
        yield found


PATHS = ("/", "/inbox", f"/runs/{runs.RUN}", "/.json", "/events", "/page.js", "/page.css", "/x")


@pytest.mark.rule("WEB-11", "WEB-15", "SEC-06")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", ["", "qrspi-{port}=", "qrspi-{port}=wrong", "qrspi-1={token}"])
def test_without_the_cookie_there_is_nothing(server: Server, path: str, cookie: str) -> None:
    words = cookie.format(port=server.port, token=server.token)
    headers = {"Cookie": words} if words else {}
    assert httpx.get(server.base + path, headers=headers).status_code == 401


@pytest.mark.rule("WEB-11")
def test_the_token_is_exchanged_for_a_strict_cookie_and_a_page_that_goes_on(server: Server) -> None:
    answer = httpx.get(server.url)
    assert answer.status_code == 200
    said = answer.headers["set-cookie"].lower()
    assert said.startswith(f"qrspi-{server.port}={server.token.lower()};")
    assert "httponly" in said and "samesite=strict" in said
    assert 'content="0; url=/"' in answer.text
    wrong = httpx.get(f"{server.base}/?token={server.token[:-1]}")
    assert (wrong.status_code, wrong.headers.get("set-cookie")) == (401, None)


@pytest.mark.rule("WEB-11", "SEC-06")
@pytest.mark.parametrize("host", ["evil.example:{port}", "127.0.0.1", "localhost:1", "a b"])
def test_a_name_that_is_not_ours_is_misdirected(server: Server, host: str) -> None:
    headers = {"Host": host.format(port=server.port)}
    assert server.client.get("/", headers=headers).status_code == 421
    assert server.client.get(server.url, headers=headers).status_code == 421


@pytest.mark.rule("WEB-11", "WEB-15", "SEC-06")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "{base}"},
    ],
)
@pytest.mark.parametrize("path", [f"/runs/{runs.RUN}/close", "/inbox", "/nowhere"])
def test_a_form_of_another_page_changes_nothing(
    server: Server, run: Path, headers: dict[str, str], path: str
) -> None:
    before = runs.contents(run)
    said = {name: value.format(base=server.base) for name, value in headers.items()}
    answer = server.client.post(path, data={"reason": "mine"}, headers=said)
    assert (answer.status_code, runs.contents(run)) == (403, before)


@pytest.mark.rule("WEB-11")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_not_known(server: Server, method: str) -> None:
    answer = server.client.request(method, f"/runs/{runs.RUN}/close", headers=OURS)
    assert answer.status_code == 405


@pytest.mark.rule("WEB-11")
@pytest.mark.parametrize("verb", ["approve", "reject", "next", "close", "reopen", "resolve"])
def test_no_get_changes_anything(server: Server, run: Path, verb: str) -> None:
    before = runs.contents(run)
    answer = server.client.get(f"/runs/{runs.RUN}/{verb}?reason=x&text=x&step=goals")
    assert (answer.status_code, runs.contents(run)) == (404, before)


@pytest.mark.rule("WEB-11")
def test_a_body_has_its_limit_said_or_not(server: Server) -> None:
    large = b"text=" + b"x" * (1024 * 1024)
    path = f"/runs/{runs.RUN}/reject"
    assert server.client.post(path, content=large, headers=OURS).status_code == 413
    parts = (large[at : at + 65536] for at in range(0, len(large), 65536))
    assert server.client.post(path, content=parts, headers=OURS).status_code == 413


@pytest.mark.rule("WEB-12")
@pytest.mark.parametrize("path", [*PATHS[:4], "/page.js", "/x", f"/runs/{runs.RUN}/files/goals.md"])
def test_every_answer_has_the_headers(server: Server, path: str) -> None:
    for answer in (server.client.get(path), httpx.get(server.base + path)):
        headers = answer.headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.rule("WEB-12", "SEC-06")
@pytest.mark.parametrize(
    "path",
    [
        "../config.md",
        "..%2F..%2F..%2Fsecret.txt",
        "%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "reviews/../../../../secret.txt",
        "//etc/passwd",
        "leak.md",
        "leaks/secret.txt",
        "%00",
        "",
    ],
)
def test_paths_do_not_leave_the_run(server: Server, run: Path, path: str) -> None:
    secret = run.parents[2] / "secret.txt"
    secret.write_text("a-very-secret-word")
    for link, target in (("leak.md", secret), ("leaks", secret.parent)):
        if not (run / link).is_symlink():
            (run / link).symlink_to(target)
    address = f"{server.base}/runs/{runs.RUN}/files/{path}"
    with socket.create_connection(("127.0.0.1", server.port)) as plain:  # no client tidies it up
        inside = address.removeprefix(server.base)
        cookie = f"qrspi-{server.port}={server.token}"
        head = f"GET {inside} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {cookie}\r\n"
        plain.sendall(f"{head}Connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: plain.recv(65536), b""))
    assert b"a-very-secret-word" not in answer and b"root:" not in answer
    for link in ("leak.md", "leaks"):
        (run / link).unlink()


@pytest.mark.rule("WEB-11")
@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "example.com"])
def test_the_page_is_for_this_machine_only(run: Path, host: str) -> None:
    words = [COMMAND, "ui", "--host", host]
    done = subprocess.run(words, cwd=run, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"--host {host}: the page is for this machine only"


@pytest.mark.rule("WEB-17")
def test_read_only_takes_no_answers_and_offers_none(run: Path) -> None:
    with serving(run.parents[2], "--read-only") as server:
        assert server.post(f"/runs/{runs.RUN}/close", reason="x").status_code == 403
        for path in ("/", "/inbox", f"/runs/{runs.RUN}", f"/runs/{runs.RUN}/goals"):
            assert 'method="post"' not in server.client.get(path).text


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_within_two_seconds_with_a_listener(run: Path, sign: signal.Signals) -> None:
    with serving(run.parents[2]) as server, server.client.stream("GET", "/events") as events:
        next(events.iter_lines())
        begun = time.monotonic()
        os.kill(server.process.pid, sign)
        server.process.wait(10)
        assert time.monotonic() - begun < 2
