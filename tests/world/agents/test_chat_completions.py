"""Chat completions over a real connection, against a server that misbehaves in every way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Literal

import pytest

from qrspi.core import trust
from qrspi.core.agents.transports import Means
from qrspi.core.config.vendors import Provider
from qrspi.world.agents import chat_completions, dispatch_context, transports
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.consent import permits
from tests.world import chat_server
from tests.world.chat_server import Behaviour, Server, answer, completion, cut, hang_up

KEY = "sk-test-0123456789abcdef"
NOON = 1_779_000_000.0  # 2026-05-17T06:40:00Z


@pytest.fixture
def server() -> Iterator[Server]:
    with chat_server.running() as server:
        yield server


class Pauses(list[float]):
    """Stands for the clock: remembers how long it was asked to wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def request(server: Server, *, limit: int = 8 * 1024 * 1024, **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    provider = Provider(server.base_url, "SHOP_API_KEY", "openai-chat-completions", named)
    means = Means("openai-chat-completions", "openai-chat-completions", provider=provider)
    return Request("quality-claude", "goals", 1, b"Review it.", means, "m-1", "/", limit=limit)


def sent(server: Server, pauses: Pauses | None = None, *, key: str = KEY, **more: str) -> Answer:
    environment = {"SHOP_API_KEY": key} if key else {}
    waits = Pauses() if pauses is None else pauses
    with DispatchContext(environment, pause=waits, chance=lambda: 0.5, clock=lambda: NOON) as wire:
        return chat_completions.send(request(server, **more), wire).whole()


def failed(answer: Answer) -> tuple[str, str]:
    assert answer.problem is not None
    assert answer.data == b""
    return answer.problem.code, answer.problem.message


@pytest.mark.rule("TRN-02")
def test_a_request_carries_model_prompt_key_and_the_providers_headers(server: Server) -> None:
    done = sent(server, X_Team="shop", User_Agent="qrspi-test")
    assert (done.data, done.problem) == (completion(), None)
    (said,) = server.said
    assert said.path == "/v1/chat/completions"
    assert said.body == {"model": "m-1", "messages": [{"role": "user", "content": "Review it."}]}
    wanted = ("authorization", "x-team", "user-agent", "content-type")
    assert [said.headers[name] for name in wanted] == [
        f"Bearer {KEY}",
        "shop",
        "qrspi-test",
        "application/json",
    ]


@pytest.mark.rule("TRN-02")
@pytest.mark.parametrize(
    ("first", "pauses"),
    [
        ([answer(b"{}", 429, Retry_After="7")], [7.5]),
        ([answer(b"{}", 503, Retry_After="Sun, 17 May 2026 06:40:30 GMT")], [30.5]),
        ([answer(b"{}", 429, Retry_After="Sat, 16 May 2026 06:40:30 GMT")], [0.5]),
        ([answer(b"{}", 429, Retry_After="soon")], [0.75]),
        ([answer(b"{}", 500), answer(b"{}", 502), answer(b"{}", 529)], [0.75, 1.5, 3.0]),
        ([hang_up], [0.75]),
        ([cut(b'{"choices"', 500)], [0.75]),
    ],
)
def test_what_may_pass_is_tried_again(
    server: Server, first: list[Behaviour], pauses: list[float]
) -> None:
    server.behaviours = [*first, answer(completion())]
    waits = Pauses()
    done = sent(server, waits)
    assert (done.data, done.problem) == (completion(), None)
    assert (waits, len(server.said)) == (pauses, len(first) + 1)


@pytest.mark.rule("TRN-02", "SPD-02")
@pytest.mark.parametrize(
    ("behaviour", "code", "message", "requests"),
    [
        (
            answer(b'{"error": {"message": "slow down"}}', 429),
            "transport-quota",
            "{url} answered 429: slow down (after 4 attempts)",
            4,
        ),
        (
            answer(b"{}", 429, Retry_After="3600"),
            "transport-quota",
            "{url} answered 429: {{}} (after 1 attempt; it asks to wait 3600 s)",
            1,
        ),
        (
            answer(b"<h1>down</h1>", 500, "text/html"),
            "transport-unavailable",
            "{url} answered 500: <h1>down</h1> (after 4 attempts)",
            4,
        ),
        (
            answer(b'{"error": {"message": "no key like sk-test-0123456789abcdef"}}', 401),
            "transport-refused",
            "{url} answered 401: no key like [redacted]",
            1,
        ),
        (
            answer(b'{"error": "no such model"}', 404),
            "transport-rejected",
            "{url} answered 404: no such model",
            1,
        ),
        (answer(b"", 302, Location="/else"), "transport-rejected", "{url} answered 302", 1),
        (
            answer(b"<p>hello</p>", 200, "text/html; charset=utf-8"),
            "transport-bad-response",
            "{url} answered with 'text/html': expected application/json",
            1,
        ),
        (
            answer(b"xx", 200, Content_Encoding="gzip"),
            "transport-bad-response",
            "{url} answered in the encoding 'gzip', which was not asked for",
            1,
        ),
        (
            answer(b"x" * 3000),
            "transport-too-large",
            "{url} sent more than 2000 bytes",
            1,
        ),
        (
            hang_up,
            "transport-dropped",
            "{url} broke the connection off: Server disconnected without sending a response. "
            "(after 4 attempts)",
            4,
        ),
    ],
)
def test_what_does_not_pass_is_one_line(
    server: Server, behaviour: Behaviour, code: str, message: str, requests: int
) -> None:
    server.behaviours = [behaviour]
    pauses = Pauses()
    with DispatchContext({"SHOP_API_KEY": KEY}, pause=pauses, chance=lambda: 0.0) as wire:
        done = chat_completions.send(request(server, limit=2000), wire)
    assert failed(done) == (code, message.format(url=server.base_url))
    assert len(server.said) == requests


@pytest.mark.rule("TRN-02")
def test_nobody_listening_is_tried_again_then_named(server: Server) -> None:
    url = server.base_url
    server.shutdown()  # or the closed socket would go on accepting until its thread looks up
    server.server_close()
    pauses = Pauses()
    code, message = failed(sent(server, pauses))
    assert code == "transport-unreachable"
    assert message == f"{url} cannot be reached: [Errno 111] Connection refused (after 4 attempts)"
    assert len(pauses) == 3


@pytest.mark.rule("TRN-02", "SPD-01")
def test_whoever_was_reached_once_may_have_counted_it(server: Server) -> None:
    server.behaviours = [hang_up]
    pauses = Pauses()

    def closing(seconds: float) -> None:
        pauses(seconds)
        server.shutdown()
        server.server_close()

    with DispatchContext({"SHOP_API_KEY": KEY}, pause=closing, chance=lambda: 0.0) as wire:
        code, message = failed(chat_completions.send(request(server), wire))
    assert (code, len(pauses)) == ("transport-dropped", 3)
    assert message == (
        f"{server.base_url} cannot be reached: [Errno 111] Connection refused (after 4 attempts)"
    )


@pytest.mark.rule("TRN-02")
def test_a_silent_server_is_given_up_and_not_asked_twice(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        released.wait(10)
        handler.close_connection = True

    server.behaviours = [silent]
    monkeypatch.setattr(dispatch_context, "READ_SECONDS", 0.05)
    done = failed(sent(server))
    released.set()
    assert done == ("transport-timeout", f"{server.base_url} did not answer in time")
    assert len(server.said) == 1


@pytest.mark.rule("TRN-02", "SEC-10")
@pytest.mark.parametrize("part", ["headers", "hints", "answer", "endless", "error", "bare"])
def test_a_server_that_drips_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch, part: chat_server.Part
) -> None:
    server.behaviours = [chat_server.drip(part)]
    monkeypatch.setattr(chat_completions, "WHOLE_SECONDS", 0.1)
    assert failed(sent(server)) == (
        "transport-timeout",
        f"{server.base_url} had not finished its answer after 0.1 s",
    )
    assert len(server.said) == 1


@pytest.mark.rule("SEC-10")
def test_all_attempts_together_have_one_deadline(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.behaviours = [answer(b"{}", 503, Retry_After="200")]
    monkeypatch.setattr(chat_completions, "WHOLE_SECONDS", 100.0)
    pauses = Pauses()
    code, _ = failed(sent(server, pauses))
    assert (code, pauses, len(server.said)) == ("transport-unavailable", [], 1)


@pytest.mark.rule("SEC-10")
@pytest.mark.parametrize("transport", ["openai-chat-completions", "codex-broker"])
def test_no_key_goes_anywhere_in_clear(transport: Literal["codex-broker"]) -> None:
    provider = Provider("http://192.0.2.1/v1", "SHOP_API_KEY", transport, {})
    means = Means(transport, transport, provider=provider, vendor="shop")
    permit = permits.Permit(trust.address("shop", provider))
    asked = Request("quality-claude", "goals", 1, b"Review it.", means, "m-1", "/", permit=permit)
    with DispatchContext({"SHOP_API_KEY": KEY}) as wire:
        assert failed(transports.send(asked, wire)) == (
            "transport-in-clear",
            "http://192.0.2.1/v1 would get the key in clear: expected an address that starts "
            "with https://, or with http:// for this machine itself",
        )


@pytest.mark.rule("SEC-10")
def test_a_proxy_is_not_asked_for_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_server.running() as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        assert sent(server).problem is None
        assert (len(server.said), proxy.said) == (1, [])


@pytest.mark.rule("TRN-06", "SEC-05")
@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("", "the variable SHOP_API_KEY is not set: it holds the key for {url}"),
        (
            "sk-two\nlines-0123456789",
            "the variable SHOP_API_KEY holds white space or other characters that no header can "
            "carry",
        ),
    ],
)
def test_a_key_that_cannot_be_used_is_never_sent_or_shown(
    server: Server, key: str, message: str
) -> None:
    code, said = failed(sent(server, key=key))
    assert (code, said) == ("transport-no-key", message.format(url=server.base_url))
    assert server.said == []


@pytest.mark.rule("TRN-02")
def test_a_base_url_may_name_the_endpoint_itself(server: Server) -> None:
    asked = request(server)
    provider = asked.means.provider
    assert provider
    whole = provider._replace(base_url=f"{server.base_url}/chat/completions")
    with DispatchContext({"SHOP_API_KEY": KEY}) as wire:
        asked = asked._replace(means=asked.means._replace(provider=whole))
        assert chat_completions.send(asked, wire).whole().data == completion()
    assert [said.path for said in server.said] == ["/v1/chat/completions"]


@pytest.mark.rule("TRN-02")
def test_stopping_ends_the_wait_for_another_try(server: Server) -> None:
    server.behaviours = [answer(b"{}", 503)]
    with DispatchContext({"SHOP_API_KEY": KEY}) as wire:
        wire.stop.set()
        code, message = failed(chat_completions.send(request(server), wire))
    assert (code, len(server.said)) == ("transport-unavailable", 1)
    assert message == f"{server.base_url} answered 503: {{}} (after 1 attempt)"
