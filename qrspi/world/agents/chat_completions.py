"""A model behind HTTP that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cache

from qrspi.core.config.vendors import Provider
from qrspi.core.hints import TYPE_CHECKING, Any, Self
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import table
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, ReplyBuffer, Request

if TYPE_CHECKING:
    from httpx import URL, Headers, Response

ATTEMPTS = 4
WHOLE_SECONDS = 1800.0  # for all attempts together, even if a server sends a byte now and then
LONGEST_PAUSE = 300.0
_ERROR_LIMIT = 64 * 1024
_KEY = re.compile(r"[!-~]+")


class ExchangeDeadline:
    """For a whole exchange. The library's timeout is about one read, which a server that sends a
    byte now and then never triggers; a timer here shuts the connection down."""

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


class _Exchange(NamedTuple):
    request: Request
    provider: Provider
    key: str
    wire: DispatchContext
    deadline: ExchangeDeadline


class _Again(NamedTuple):
    """A failure that may pass; `after` is how long the server asks us to wait."""

    problem: Problem
    after: float | None = None


def send(request: Request, wire: DispatchContext) -> Answer:
    provider = request.means.provider
    assert provider is not None
    key = wire.environment.get(provider.api_key_env, "")
    if problem := _unusable(key, provider):
        return Answer(problem=problem)
    began = time.monotonic()
    with ExchangeDeadline(request.seconds or WHOLE_SECONDS) as deadline:
        answer = _tried(_Exchange(request, provider, key, wire, deadline))
    return answer._replace(seconds=time.monotonic() - began)


def _unusable(key: str, provider: Provider) -> Problem | None:
    name = provider.api_key_env
    if not key:
        text = f"the variable {name} is not set: it holds the key for {provider.base_url}"
        return Problem("transport-no-key", text, hint=f"export {name}=…")
    if not _KEY.fullmatch(key):
        # If the HTTP library reported the error, it would quote the key.
        text = f"the variable {name} holds white space or other characters that no header can carry"
        return Problem("transport-no-key", text)
    return None


def _tried(exchange: _Exchange) -> Answer:
    attempt, heard = 0, False
    wire, deadline = exchange.wire, exchange.deadline
    while True:
        outcome = _in_time(_once(exchange), exchange.provider, deadline)
        if isinstance(outcome, Answer):
            return outcome
        heard = heard or outcome.problem.code != _UNREACHABLE
        pause = _pause(outcome, attempt, wire)
        attempt += 1
        longest = min(LONGEST_PAUSE, deadline.left)
        if attempt == ATTEMPTS or pause > longest or wire.stop.is_set():
            return Answer(problem=_given_up(outcome, attempt, pause, heard))
        wire.pause(pause)


def _in_time(
    outcome: Answer | _Again, provider: Provider, deadline: ExchangeDeadline
) -> Answer | _Again:
    """An answer that we cut off may look complete."""
    if not deadline.passed:
        return outcome
    if isinstance(outcome, Answer) and outcome.heard:
        outcome.heard.close()
    text = f"{provider.base_url} had not finished its answer after {deadline.seconds:g} s"
    return Answer(problem=Problem("transport-timeout", text))


def _pause(outcome: _Again, attempt: int, wire: DispatchContext) -> float:
    """Callers that were turned away together must not come back together."""
    if outcome.after is not None:
        return outcome.after + wire.chance()
    return (0.5 + wire.chance() / 2) * 2.0**attempt


_UNREACHABLE: Code = "transport-unreachable"


def _given_up(outcome: _Again, attempts: int, pause: float, heard: bool) -> Problem:
    tried = f"after {attempts} attempt{'s' if attempts > 1 else ''}"
    more = f"; it asks to wait {pause:.0f} s" if pause > LONGEST_PAUSE else ""
    problem = outcome.problem
    if heard and problem.code == _UNREACHABLE:
        # An earlier attempt did reach the server, which may charge for it.
        problem = problem._replace(code="transport-dropped")
    return problem._replace(message=f"{problem.message} ({tried}{more})")


def _once(exchange: _Exchange) -> Answer | _Again:
    try:
        import httpx
    except ModuleNotFoundError:
        text = "httpx is not installed, which this transport needs: pip install 'qrspi[http]'"
        return Answer(problem=Problem("transport-no-httpx", text, hint="pip install 'qrspi[http]'"))
    place, wire = exchange.provider.base_url, exchange.wire
    try:
        with _response(exchange) as response:
            return _read(response, exchange.request, place, wire)
    except (httpx.ReadTimeout, httpx.WriteTimeout):
        return Answer(problem=Problem("transport-timeout", f"{place} did not answer in time"))
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        text = _told(f"{place} cannot be reached: {error}", wire)
        return _Again(Problem("transport-unreachable", text))
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        text = _told(f"{place} broke the connection off: {error}", wire)
        return _Again(Problem("transport-dropped", text))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        text = _told(f"{place} cannot be asked: {error}", wire)
        return Answer(problem=Problem("transport-failed", text))
    except OSError as error:
        text = f"the answer of {place} cannot be kept: {error.strerror}"
        return Answer(problem=Problem("transport-failed", text))


def _told(text: str, wire: DispatchContext) -> str:
    """An error of the HTTP library may quote all that a server sent."""
    return wire.redacted(text)[:600]


def _response(exchange: _Exchange) -> AbstractContextManager[Response]:
    request, provider = exchange.request, exchange.provider
    messages = [{"role": "user", "content": request.prompt.decode()}]
    client = exchange.wire.connections.client(provider.base_url)
    return client.stream(
        "POST",
        _url(provider.base_url),
        content=json.dumps({"model": request.model, "messages": messages}).encode(),
        headers=_headers(provider, exchange.key),
        extensions={"trace": exchange.deadline.trace},
    )


@cache
def _url(base: str) -> URL:
    import httpx

    return httpx.URL(base.rstrip("/").removesuffix("/chat/completions") + "/chat/completions")


def _headers(provider: Provider, key: str) -> Headers:
    import httpx

    headers = httpx.Headers(
        {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            # A compressed reply could grow a thousandfold in one read.
            "Accept-Encoding": "identity",
        }
    )
    more = provider.default_headers.items()
    headers.update([(name.encode(), value.encode()) for name, value in more])
    return headers


def _read(
    response: Response, request: Request, place: str, wire: DispatchContext
) -> Answer | _Again:
    if response.status_code != 200:
        return _turned_away(response, place, wire)
    if problem := _odd_content(response, place, wire):
        return Answer(problem=problem)
    with ExitStack() as stack:
        heard = ReplyBuffer()
        stack.callback(heard.close)
        if problem := _hear(response, heard, request.limit, place):
            return Answer(problem=problem)
        stack.pop_all()
    return Answer(heard=heard)


def _hear(response: Response, heard: ReplyBuffer, limit: int, place: str) -> Problem | None:
    for block in response.iter_raw():
        heard.add(block)
        if heard.size > limit:
            return Problem("transport-too-large", f"{place} sent more than {limit} bytes")
    return None


def _odd_content(response: Response, place: str, wire: DispatchContext) -> Problem | None:
    headers = {name: wire.redacted(value)[:80] for name, value in response.headers.items()}
    kind = headers.get("content-type", "application/json").partition(";")[0].strip()
    if not kind.endswith(("/json", "+json")):
        text = f"{place} answered with {kind!r}: expected application/json"
        return Problem("transport-bad-response", text, found=kind)
    coding = headers.get("content-encoding", "identity")
    if coding != "identity":
        text = f"{place} answered in the encoding {coding!r}, which was not asked for"
        return Problem("transport-bad-response", text, found=coding)
    return None


_CODES: dict[int, Code] = {
    401: "transport-refused",
    402: "transport-quota",
    403: "transport-refused",
    408: "transport-unavailable",
    429: "transport-quota",
}


def _turned_away(response: Response, place: str, wire: DispatchContext) -> Answer | _Again:
    status = response.status_code
    message = wire.redacted(_words(response))
    text = f"{place} answered {status}{f': {message}' if message else ''}"
    other: Code = "transport-unavailable" if status >= 500 else "transport-rejected"
    problem = Problem(_CODES.get(status, other), text, found=str(status))
    if status == 429 or status >= 500:
        return _Again(problem, _retry_after(response, wire))
    return Answer(problem=problem)


def _words(response: Response) -> str:
    data = bytearray()
    for block in response.iter_raw():
        data += block
        if len(data) > _ERROR_LIMIT:
            break
    text = bytes(data[:_ERROR_LIMIT]).decode("utf-8", "replace")
    return " ".join((_message(text) or text).split())[:300]


def _message(text: str) -> str:
    error = (table(text) or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _retry_after(response: Response, wire: DispatchContext) -> float | None:
    after = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", after):
        return float(after)
    if not after:
        return None
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - wire.clock())
    except (ValueError, OverflowError):
        return None
