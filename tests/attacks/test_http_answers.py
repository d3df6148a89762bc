"""To break, fool or stall whoever reads an answer over HTTP, by its form or by what it says."""

from __future__ import annotations

import gzip
import json
import struct
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

import pytest

from qrspi.world.agents import chat_completions
from tests.attacks.arena import SECRET, VARIABLE, Arena
from tests.attacks.test_consent import provider
from tests.attacks.test_provider import OK, raw
from tests.attacks.trial import attack
from tests.world import chat_server
from tests.world.chat_server import Behaviour, answer, completion

pytestmark = pytest.mark.rule("SEC-10")
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = completion()
LONG = b"%d" % len(WHOLE)


def fails(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each reviewer fails in a line or so; nothing of an answer is in the round, nor the key."""
    monkeypatch.setattr(chat_completions, "ATTEMPTS", 1)
    monkeypatch.setattr(chat_completions, "WHOLE_SECONDS", 5.0)
    with chat_server.running() as server:
        server.behaviours = [way]
        run = arena.clone(providers=provider(server.base_url, VARIABLE, ""))
        assert arena.qrspi("trust", "--yes").code == 0
        said = arena.qrspi("next", "--dispatch").text
        assert server.said
    assert "quality-claude" in said and len(said) < 5000
    assert "\x1b" not in said and SECRET not in said
    assert [*run.glob("reviews/goals/round-01/*.md")] == []
    assert arena.qrspi("approve", "goals").code == 3
    return said


@attack(
    "a provider",
    "chunks do not say what they are",
    {
        "no number": raw(CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"),
        "below nothing": raw(CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n"),
        "longer than said": raw(CHUNKED + b"1\r\n{}\r\n0\r\n\r\n"),
        "shorter than said": raw(CHUNKED + b"ff\r\n{}\r\n"),
        "no end": raw(CHUNKED + b"%x\r\n" % len(WHOLE) + WHOLE + b"\r\n"),
        "a great size": raw(CHUNKED + b"ffffffffffffffff\r\n{}"),
        "a hex prefix": raw(CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n"),
        "a long extension": raw(CHUNKED + b"2;" + b"x" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n"),
        "bare line ends": raw(CHUNKED + b"2\n{}\n0\n\n"),
    },
)
def test_chunks(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(arena, way, monkeypatch)


@attack(
    "a provider",
    "a length is not the length",
    {
        "longer than the answer": raw(OK + b"Content-Length: 99999\r\n\r\n" + WHOLE),
        "shorter than the answer": raw(OK + b"Content-Length: 9\r\n\r\n" + WHOLE),
        "nothing": raw(OK + b"Content-Length: 0\r\n\r\n" + WHOLE),
        "no number": raw(OK + b"Content-Length: many\r\n\r\n" + WHOLE),
        "a sign": raw(OK + b"Content-Length: +" + LONG + b"\r\n\r\n" + WHOLE),
        "without end": raw(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + WHOLE),
        "other digits": raw(OK + "Content-Length: ٣\r\n\r\n".encode() + WHOLE),
        "two that differ": raw(
            OK + b"Content-Length: 2\r\nContent-Length: " + LONG + b"\r\n\r\n" + WHOLE
        ),
        "two in one": raw(OK + b"Content-Length: 2, " + LONG + b"\r\n\r\n" + WHOLE),
        "a length and chunks": raw(
            OK + b"Content-Length: " + LONG + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + WHOLE
        ),
        "chunked twice": raw(OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + WHOLE),
        "another coding": raw(OK + b"Transfer-Encoding: x-own\r\n\r\n" + WHOLE),
    },
)
def test_lengths(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(arena, way, monkeypatch)


@attack(
    "a provider",
    "the first line or a header is none",
    {
        "no status": raw(b"HTTP/1.1\r\n\r\n" + WHOLE),
        "a status of letters": raw(b"HTTP/1.1 OK OK\r\n\r\n" + WHOLE),
        "a great status": raw(b"HTTP/1.1 99999 OK\r\n\r\n" + WHOLE),
        "another version": raw(b"HTTP/x.1 200 OK\r\n\r\n" + WHOLE),
        "no header's name": raw(OK + b": x\r\n\r\n" + WHOLE),
        "a blank before the colon": raw(OK + b"X : y\r\n\r\n" + WHOLE),
        "a NUL in a value": raw(OK + b"X: \0\r\n\r\n" + WHOLE),
        "no colon": raw(OK + b"xyz\r\n\r\n" + WHOLE),
        "switched to another protocol": raw(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n" + WHOLE),
        "nothing but its end": raw(b"\r\n\r\n"),
        "nothing": raw(b""),
    },
)
def test_first_lines(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(arena, way, monkeypatch)


def said(document: object) -> Behaviour:
    return answer(json.dumps(document).encode())


def choice(message: object, **more: object) -> Behaviour:
    return said({"choices": [{"message": message, "finish_reason": "stop", **more}]})


@attack(
    "a provider",
    "its document is of other types than it must be",
    {
        "a number": said(1),
        "a list": said([]),
        "nothing": said(None),
        "a text": said("NO_FINDINGS"),
        "choices of a text": said({"choices": "NO_FINDINGS"}),
        "choices of numbers": said({"choices": [1, 2]}),
        "no choice": said({"choices": []}),
        "a choice of nothing": said({"choices": [None]}),
        "a message of a list": choice(["NO_FINDINGS"]),
        "a content of a number": choice({"content": 5}),
        "a content of nothing": choice({"content": None}),
        "a content of a dict": choice({"content": {"text": "NO_FINDINGS"}}),
        "half a character": answer(WHOLE.replace(b"NO_FINDINGS", rb"\ud800")),
        "a NUL": answer(WHOLE.replace(b"NO_FINDINGS", rb"\u0000")),
        "cut off": answer(WHOLE[:-10]),
        "two documents": answer(WHOLE + WHOLE),
        "no text": answer(b"\xff" + WHOLE),
        "a number without end": answer(b'{"choices": ' + b"9" * 1_000_000 + b"}"),
        "another kind": answer(b"<html>NO_FINDINGS</html>", kind="text/html"),
        "by the name of another kind": answer(WHOLE, kind="text/html"),
        "a call of a tool": choice({"content": None, "tool_calls": [{"function": "x"}]}),
    },
)
def test_types(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(arena, way, monkeypatch)


@attack(
    "a provider",
    "what is packed cannot be unpacked",
    {
        "not packed at all": answer(WHOLE, Content_Encoding="gzip"),
        "cut off": answer(gzip.compress(WHOLE)[:-9], Content_Encoding="gzip"),
        "a wrong sum": answer(
            gzip.compress(WHOLE)[:-8] + struct.pack("<II", 1, 1), Content_Encoding="gzip"
        ),
        "no end": answer(gzip.compress(WHOLE)[:20], Content_Encoding="gzip"),
        "another method": answer(WHOLE, Content_Encoding="br"),
    },
)
def test_not_unpacked(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(arena, way, monkeypatch)


def costing(**usage: object) -> Behaviour:
    return answer(completion(usage=usage))


@attack(
    "a provider",
    "what it says it cost cannot be counted, or takes something off what was spent",
    {
        "below nothing": costing(prompt_tokens=-(10**9), completion_tokens=-1, cost=-5),
        "great": costing(prompt_tokens=10**400, completion_tokens=10**30),
        "texts": costing(prompt_tokens="many", completion_tokens="1e999"),
        "no number": answer(WHOLE.replace(b"11", b"NaN")),
        "endless": answer(WHOLE.replace(b"11", b"1e999")),
        "a list": answer(completion(usage=[])),
        "true": costing(prompt_tokens=True, completion_tokens=True),
    },
)
def test_costs(arena: Arena, way: Behaviour) -> None:
    with chat_server.running() as server:
        server.behaviours = [way]
        arena.clone(providers=provider(server.base_url, VARIABLE, ""))
        assert arena.qrspi("trust", "--yes").code == 0
        assert len(arena.qrspi("next", "--dispatch").text) < 5000
    for look in ("spend", "stats"):
        assert arena.qrspi(look).code == 0
    total = arena.qrspi("spend", "--json").json["total"]
    assert all(value >= 0 for value in total.values() if isinstance(value, int | float))


def begun(part: bytes) -> Behaviour:
    """Nothing more after this, and the connection stays."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(part)
            handler.connection.recv(1)

    return behave


@attack(
    "a provider",
    "an answer stops and the connection does not",
    {
        "before it begins": begun(b""),
        "in its first line": begun(b"HTTP/1.1 2"),
        "in a header": begun(OK),
        "in its body": begun(OK + b"Content-Length: 99999\r\n\r\n" + WHOLE),
        "in a chunk": begun(CHUNKED + b"ff\r\n{"),
    },
)
def test_stops(arena: Arena, way: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_completions, "WHOLE_SECONDS", 0.2)
    with chat_server.running() as server:
        server.behaviours = [way]
        arena.clone(providers=provider(server.base_url, VARIABLE, ""))
        assert arena.qrspi("trust", "--yes").code == 0
        said = arena.qrspi("next", "--dispatch")
    assert "had not finished its answer after 0.2 s" in said.flat
