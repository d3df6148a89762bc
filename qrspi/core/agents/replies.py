"""What agents answer: the text, what it cost, and each way in which an answer can fail."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.hints import Literal
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.json_fields import Object, nested, parsed, string

Kind = Literal["text", "claude-json", "codex-jsonl", "openai-chat-completions"]
LIMIT = 8 * 1024 * 1024
_BYTES_OF_A_TOKEN = 4  # as usual in English and in code


class Usage(NamedTuple):
    """As the provider counted it; 0 and None where it said nothing."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    estimated: int = 0  # tokens, by the length of the texts, where nobody counted


class Reply(NamedTuple):
    text: str
    usage: Usage = Usage()
    model: str = ""


def parse(kind: Kind, data: bytes, limit: int = LIMIT) -> Reply | Problem:
    """The whole answer, or why there is none. Half an answer counts as none."""
    text = _decoded(data, limit)
    return text if isinstance(text, Problem) else _whole(_READERS[kind](text))


def usage(kind: Kind, data: bytes, limit: int = LIMIT) -> Usage:
    """What the call cost, even when its answer is of no use."""
    text = _decoded(data, limit)
    return Usage() if isinstance(text, Problem) else _COSTS[kind](text)


def estimated(usage: Usage, *sizes: int) -> Usage:
    """With an estimate where no token was counted: what nobody counts is not free."""
    if usage.input_tokens or usage.output_tokens:
        return usage
    return usage._replace(estimated=-(-sum(sizes) // _BYTES_OF_A_TOKEN))


def _decoded(data: bytes, limit: int) -> str | Problem:
    if len(data) > limit:
        return _failed("reply-too-large", f"{len(data)} bytes", f"at most {limit}")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _failed("reply-not-text", "bytes that are not UTF-8", "UTF-8 text")


def _whole(reply: Reply | Problem) -> Reply | Problem:
    if isinstance(reply, Problem):
        return reply
    if not reply.text.strip():
        return _failed("reply-empty", "no text", "an answer")
    if reply.text != _encodable(reply.text):
        return _failed("reply-not-text", "half of a surrogate pair", "UTF-8 text")
    return reply._replace(model=_encodable(reply.model))


def _encodable(text: str) -> str:
    """JSON can spell characters that no UTF-8 file can hold."""
    return text.encode(errors="replace").decode()


# claude -p --output-format json: one object, an array of events (with --verbose), or one
# event per line (stream-json). The last event of type `result` is the answer.


def _claude(text: str) -> Reply | Problem:
    events = _claude_events(text)
    if isinstance(events, Problem):
        return events
    result = _last(events, "result")
    if result is None:
        return _failed("reply-cut-off", "no event of type result", "one at the end")
    if fault := _claude_fault(result):
        return fault
    return Reply(string(result, "result"), _claude_usage(result), _claude_model(events, result))


def _claude_events(text: str) -> list[Object] | Problem:
    document = parsed(text)
    if isinstance(document, list):
        return [event for event in document if isinstance(event, dict)]
    if isinstance(document, dict):
        return [document]
    return _json_lines(text, "`claude -p --output-format json`")


def _claude_fault(result: Object) -> Problem | None:
    # An API error arrives as subtype success with is_error true; in some versions a spent turn
    # limit arrives the other way round. So both fields have to be right.
    subtype = result.get("subtype")
    if subtype != "success":
        return _failed("reply-failed", f"subtype {_shown(subtype)}", "success")
    if result.get("is_error") is not False:
        found = f"is_error {_shown(result.get('is_error'))}: {_shown(result.get('result'))}"
        return _failed("reply-failed", found, "false")
    if result.get("stop_reason") in ("max_tokens", "model_context_window_exceeded"):
        found = f"stop_reason {_shown(result['stop_reason'])}"
        return _failed("reply-cut-off", found, "an answer that was finished")
    return None


def _claude_usage(result: Object) -> Usage:
    counts = nested(result, "usage")
    # Tokens from the cache are not part of input_tokens.
    inputs = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    spent = sum(_count(counts, name) for name in inputs)
    return Usage(spent, _count(counts, "output_tokens"), _cost(result))


def _claude_model(events: list[Object], result: Object) -> str:
    started = next((event for event in events if event.get("subtype") == "init"), {})
    models = list(nested(result, "modelUsage"))
    return string(started, "model") or (models[0] if len(models) == 1 else "")


def _claude_cost(text: str) -> Usage:
    events = _claude_events(text)
    result = None if isinstance(events, Problem) else _last(events, "result")
    return _claude_usage(result) if result else Usage()


# codex exec --json: one event per line. An `error` event alone is no failure: codex also reports a
# connection that it lost and restored.


_CODEX = "`codex exec --json`"


def _codex(text: str) -> Reply | Problem:
    events = _json_lines(text, _CODEX)
    if isinstance(events, Problem):
        return events
    if failed := _last(events, "turn.failed"):
        said = _shown(nested(failed, "error").get("message"))
        return _failed("reply-failed", f"turn.failed: {said}", "turn.completed")
    if _last(events, "turn.completed") is None:
        return _failed("reply-cut-off", "no event turn.completed", "one at the end")
    return Reply(_codex_text(events), _codex_usage(events))


def _codex_text(events: list[Object]) -> str:
    items = [nested(event, "item") for event in events if event.get("type") == "item.completed"]
    message = _last(items, "agent_message")
    return string(message, "text") if message else ""


def _codex_usage(events: list[Object]) -> Usage:
    # Here input_tokens include those from the cache, and the last turn includes earlier ones.
    counts = nested(_last(events, "turn.completed") or {}, "usage")
    return Usage(_count(counts, "input_tokens"), _count(counts, "output_tokens"))


def _codex_cost(text: str) -> Usage:
    events = _json_lines(text, _CODEX)
    return Usage() if isinstance(events, Problem) else _codex_usage(events)


# The body of an OpenAI chat completion.


def _chat(text: str) -> Reply | Problem:
    body = parsed(text)
    if not isinstance(body, dict):
        return _failed("reply-not-json", "text that is not a JSON object", "a chat completion")
    if body.get("error"):
        error = nested(body, "error").get("message") or body["error"]
        return _failed("reply-failed", f"error {_shown(error)}", "a chat completion")
    choice = _first_choice(body)
    if fault := _chat_fault(choice.get("finish_reason")):
        return fault
    content = string(nested(choice, "message"), "content")
    return Reply(content, _chat_usage(body), string(body, "model"))


def _first_choice(body: Object) -> Object:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _chat_fault(reason: object) -> Problem | None:
    if reason == "stop":
        return None
    code: Code = "reply-failed" if reason in ("content_filter", "tool_calls") else "reply-cut-off"
    return _failed(code, f"finish_reason {_shown(reason)}", "stop")


def _chat_usage(body: Object) -> Usage:
    counts = nested(body, "usage")
    return Usage(_count(counts, "prompt_tokens"), _count(counts, "completion_tokens"))


def _chat_cost(text: str) -> Usage:
    body = parsed(text)
    return _chat_usage(body) if isinstance(body, dict) else Usage()


_READERS: dict[Kind, Callable[[str], Reply | Problem]] = {
    "text": Reply,
    "claude-json": _claude,
    "codex-jsonl": _codex,
    "openai-chat-completions": _chat,
}
_COSTS: dict[Kind, Callable[[str], Usage]] = {
    "text": lambda _: Usage(),
    "claude-json": _claude_cost,
    "codex-jsonl": _codex_cost,
    "openai-chat-completions": _chat_cost,
}


# JSON from elsewhere: it may have any shape.


def _json_lines(text: str, program: str) -> list[Object] | Problem:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    events = [(number, parsed(line)) for number, line in lines]
    bad = next((number for number, event in events if not isinstance(event, dict)), None)
    if not lines:
        return _failed("reply-empty", "no text", "an answer")
    if bad is not None:
        found = f"line {bad}, which is not a JSON object"
        return _failed("reply-not-json", found, f"what {program} prints")
    return [event for _, event in events if isinstance(event, dict)]


def _last(events: list[Object], kind: str) -> Object | None:
    return next((event for event in reversed(events) if event.get("type") == kind), None)


_MOST = 10**15  # beyond any bill, and safe to add up


def _count(holder: Object, key: str) -> int:
    value = holder.get(key)
    return value if type(value) is int and 0 <= value < _MOST else 0


def _cost(holder: Object) -> float | None:
    value = holder.get("total_cost_usd")
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MOST:
        return None
    return float(value)


_SHOWN = 200


def _shown(value: object) -> str:
    """A short line of somebody else's words."""
    if value is None:
        return "nothing"
    words = " ".join(_encodable(str(value)).split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def _failed(code: Code, found: str, expected: str) -> Problem:
    message = f"reply: found {found}, expected {expected}"
    return Problem(code, message, found=found, expected=expected)
