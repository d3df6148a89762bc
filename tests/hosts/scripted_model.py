"""A model on loopback that says what a test tells it to say, in the words of two wires.

`POST …/messages` is what Claude Code and Copilot speak, `POST …/responses` is what Codex speaks.
The turn that is due is counted from the conversation in the request, so a repeated request gets
the same answer, and side questions of a host (a title, a summary) do not use a turn up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Say(NamedTuple):
    text: str


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]


Turn = Say | Call
END = Say("Done.")


class Model(NamedTuple):
    port: int
    requests: list[dict[str, Any]]


@contextmanager
def scripted(turns: Sequence[Turn]) -> Iterator[Model]:
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._put(200, "text/plain", b"")

        def do_GET(self) -> None:
            self._put(200, "application/json", b'{"data": [], "models": []}')

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            if self.path.partition("?")[0].endswith("count_tokens"):
                self._put(200, "application/json", b'{"input_tokens": 10}')
                return
            turn: Turn = END
            if body.get("tools"):
                requests.append(body)
                turn = _due(body, turns)
            events = _responses(turn) if "/responses" in self.path else _messages(turn, body)
            self._put(200, "text/event-stream", b"".join(events))

        def _put(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Model(server.server_port, requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _due(body: dict[str, Any], turns: Sequence[Turn]) -> Turn:
    said = sum(one.get("role") == "assistant" for one in body.get("messages") or ())
    said += sum(
        one.get("type") == "function_call" or one.get("role") == "assistant"
        for one in body.get("input") or ()
    )
    return turns[said] if said < len(turns) else END


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _messages(turn: Turn, body: dict[str, Any]) -> Iterator[bytes]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    at = f"{len(body.get('messages') or ()):04d}"
    message = {
        "id": f"msg_{at}",  # Claude Code takes two messages with one id for one
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "test"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _event("message_start", message=message)
    if isinstance(turn, Say):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{at}", "name": turn.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    yield _event("content_block_start", index=0, content_block=block)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    reason = "end_turn" if isinstance(turn, Say) else "tool_use"
    yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
    yield _event("message_stop")


def _responses(turn: Turn) -> Iterator[bytes]:
    item: dict[str, Any]
    if isinstance(turn, Say):
        words = [{"type": "output_text", "text": turn.text}]
        item = {"type": "message", "role": "assistant", "id": "msg_1", "content": words}
    else:
        text = json.dumps(turn.arguments)
        item = {"type": "function_call", "call_id": f"call_{abs(hash(text))}", "name": turn.tool}
        item["arguments"] = text
    usage = {"input_tokens": 10, "input_tokens_details": None, "output_tokens": 5}
    usage |= {"output_tokens_details": None, "total_tokens": 15}
    yield _event("response.created", response={"id": "resp_1"})
    yield _event("response.output_item.done", item=item)
    yield _event("response.completed", response={"id": "resp_1", "usage": usage})
