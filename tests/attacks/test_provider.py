"""To get a key, or to keep a command busy for ever, as whoever answers it."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from qrspi.world.agents import chat_completions
from tests import runs
from tests.attacks.arena import COMMAND, SECRET, VARIABLE, Arena
from tests.attacks.test_consent import provider
from tests.attacks.trial import attack
from tests.world import chat_server
from tests.world.chat_server import Behaviour, Server, answer, completion

pytestmark = pytest.mark.rule("SEC-10")


def ask(arena: Arena, server: Server) -> dict[str, str]:
    """What is said of each reviewer that failed."""
    run = arena.clone(providers=provider(server.base_url, VARIABLE, ""))
    assert arena.qrspi("trust", "--yes").code == 0
    said = arena.qrspi("next", "--dispatch")
    assert SECRET not in said.text
    for file in run.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file
    return {"text": said.flat}


@attack(
    "a provider",
    "an answer never ends",
    {part: part for part in ("headers", "hints", "answer", "endless", "error", "bare")},
)
def test_drips(arena: Arena, way: chat_server.Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "WHOLE_SECONDS", 0.2)
    with chat_server.running() as server:
        server.behaviours = [chat_server.drip(way)]
        assert "had not finished its answer after 0.2 s" in ask(arena, server)["text"]


@attack(
    "a provider",
    "the key is carried on to another address",
    {str(status): status for status in (301, 302, 303, 307, 308)},
)
def test_redirects(arena: Arena, way: int) -> None:
    with chat_server.running() as server, chat_server.running() as other:
        server.behaviours = [answer(b"{}", way, Location=other.base_url)]
        ask(arena, server)
        assert (bool(server.said), other.said) == (True, [])


def long_error(handler: BaseHTTPRequestHandler) -> None:
    long(handler, 500)


def long(handler: BaseHTTPRequestHandler, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.close_connection = True
    with suppress(OSError):
        while True:
            handler.wfile.write(b" " * 65536)


BOMB = gzip.compress(b" " * 50_000_000)
PARTLY = SECRET.replace("a", r"\u0061").encode()
ESCAPED = b"".join(b"\\u%04X" % ord(one) for one in SECRET)
REVIEW = f"<<<FINDING-BOUNDARY>>>\n{runs.finding(message='Wrong: KEY.').decode()}"
REPEATED = completion(f"---\nfinding_id: R1-F01\n---\n{SECRET}\n")
SPELT = completion(REVIEW).replace(b"KEY", ESCAPED)


@attack(
    "a provider",
    "an answer is too much to keep, to unpack or to read",
    {
        "without end": long,
        "packed": answer(BOMB, Content_Encoding="gzip"),
        "deep": answer(b"[" * 200_000),
        "an error without end": long_error,
        "an error of another length": chat_server.cut(b"x" * 1_000_000, 1_000_000_000),
        "no JSON": answer(b"\xff\xfe" * 1000),
    },
)
def test_too_much(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "ATTEMPTS", 1)
    with chat_server.running() as server:
        server.behaviours = [way]
        assert "quality-claude" in ask(arena, server)["text"]


@attack(
    "a provider",
    "the key comes back and is written or shown",
    {
        "in an error": answer(json.dumps({"error": {"message": SECRET}}).encode(), 401),
        "in plain words": answer(SECRET.encode(), 403, "text/plain"),
        "in a reason": answer(b"{}", 400, X_Echo=SECRET),
        "in a review": answer(REPEATED),
        "in a kind": answer(b"{}", 200, f"text/{SECRET}"),
        "in a review, spelt out": answer(SPELT),
        "in a review, spelt out in part": answer(completion(REVIEW).replace(b"KEY", PARTLY)),
        "in a reason to end, spelt out": answer(SPELT.replace(b'"stop"', b'"%s"' % ESCAPED)),
        "in a model, spelt out": answer(completion(model=".").replace(b'"."', b'"%s"' % ESCAPED)),
    },
)
def test_the_key_comes_back(arena: Arena, way: Behaviour) -> None:
    with chat_server.running() as server:
        server.behaviours = [way]
        ask(arena, server)


@attack(
    "a clone",
    "a key is sent in clear",
    {
        "plain": "http://192.0.2.1/v1",
        "capitals": "HTTP://192.0.2.1/v1",
        "like this machine": "http://127.0.0.1.example.org/v1",
        "every address": "http://0.0.0.0:1/v1",
        "a user of that name": "http://127.0.0.1@192.0.2.1/v1",
        "a backslash": "http://127.0.0.1\\\\@192.0.2.1/v1",
        "a number": "http://2130706433/v1",
        "mapped": "http://[::ffff:192.0.2.1]/v1",
    },
)
def test_in_clear(arena: Arena, way: str) -> None:
    arena.clone(providers=provider(way, VARIABLE, "").replace("'", '"'))
    for words in (("trust", "--yes"), ("next",), ("next", "--dispatch"), ("dispatch", "run")):
        said = arena.qrspi(*words)
        assert "base_url" in said.text or words[0] == "trust", said.text


@attack(
    "a provider",
    "an answer comes when it is no longer asked for",
    {
        "another text": lambda run: (run / "goals.md").write_bytes(
            runs.artifact(body="# Other\n\n## Words\n\nBad.\n")
        ),
        "no text": lambda run: (run / "goals.md").unlink(),
        "a closed run": lambda run: subprocess.run(
            [COMMAND, "close", "--reason", "Enough."], cwd=run, check=True
        ),
        "a round that is gone": lambda run: shutil.rmtree(run / "reviews"),
    },
)
def test_too_late(arena: Arena, way: Callable[[Path], object]) -> None:
    """What it is about changes while the provider thinks."""
    asked, go_on = threading.Event(), threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        go_on.wait(20)
        answer(completion())(handler)

    with chat_server.running() as server:
        run = arena.clone(providers=provider(server.base_url, VARIABLE, ""))
        arena.qrspi("trust", "--yes")
        arena.qrspi("next")
        server.behaviours = [slow]
        thread = threading.Thread(target=lambda: (asked.wait(20), way(run), go_on.set()))
        thread.start()
        arena.qrspi("next", "--dispatch")
        thread.join()
    assert b"approved" not in b"".join(file.read_bytes() for file in run.glob("goals.md"))
    assert arena.qrspi("approve", "goals").code == 3


def raw(data: bytes) -> Behaviour:
    """These bytes, and the end of the connection."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(data)

    return behave


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@attack(
    "a provider",
    "an answer is no proper HTTP",
    {
        "a great header": raw(OK + b"X: " + b"x" * 10_000_000 + b"\r\n\r\n{}"),
        "many headers": raw(OK + b"X: y\r\n" * 200_000 + b"\r\n{}"),
        "two lengths": raw(OK + b"Content-Length: 2\r\nContent-Length: 99\r\n\r\n{}"),
        "a length below nothing": raw(OK + b"Content-Length: -1\r\n\r\n{}"),
        "a length and chunks": raw(
            OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"
        ),
        "a great chunk": raw(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 5000 + b"\r\n{}"),
        "another protocol": raw(b"SSH-2.0-x\r\n"),
        "a line that ends in another answer": raw(OK + b"X: y\r\n\r\n" + OK + b"\r\n{}"),
        "escapes in its reason": raw(b"HTTP/1.1 500 \x1b[2Jx\r\nContent-Length: 0\r\n\r\n"),
    },
)
def test_no_http(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "ATTEMPTS", 1)
    with chat_server.running() as server:
        server.behaviours = [way]
        said = ask(arena, server)["text"]
    assert "quality-claude" in said and "\x1b" not in said
    assert len(said) < 5000


@attack(
    "a provider",
    "an answer that was not asked for in this form is unpacked",
    {
        "deflate": answer(zlib.compress(b" " * 50_000_000), Content_Encoding="deflate"),
        "twice": answer(gzip.compress(BOMB), Content_Encoding="gzip, gzip"),
        "another word for it": answer(BOMB, Content_Encoding="x-gzip"),
        "in an error": answer(BOMB, 500, Content_Encoding="gzip"),
        "in capitals": answer(BOMB, Content_Encoding="GZIP"),
    },
)
def test_packed(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "ATTEMPTS", 1)
    with chat_server.running() as server:
        server.behaviours = [way]
        said = ask(arena, server)["text"]
    assert "quality-claude" in said and len(said) < 5000


@attack(
    "a provider",
    "the key is carried on by a header that leads elsewhere",
    {
        "a place beside an answer": (200, "Location"),
        "a content's place": (200, "Content-Location"),
        "a refresh": (200, "Refresh"),
        "another service": (200, "Alt-Svc"),
        "many choices": (300, "Location"),
        "a proxy": (305, "Location"),
        "asked to log in": (401, "Location"),
        "later": (503, "Location"),
    },
)
def test_leads_elsewhere(
    arena: Arena, way: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_completions, "ATTEMPTS", 1)
    status, name = way
    with chat_server.running() as server, chat_server.running() as other:
        server.behaviours = [answer(b"{}", status, **{name: other.base_url})]
        ask(arena, server)
        assert (bool(server.said), other.said) == (True, [])
