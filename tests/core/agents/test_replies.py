"""Replies of each kind: what counts as one, what it cost, and why the others are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.agents.replies import LIMIT, Kind, Reply, Usage, parse, usage
from qrspi.core.model import Problem

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "NO_FINDINGS",
    "total_cost_usd": 0.25,
    "usage": {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 100,
        "output_tokens": 7,
    },
    "modelUsage": {"model-1": {}},
}
INIT = {"type": "system", "subtype": "init", "model": "model-0"}
SAID = {"type": "assistant", "message": {"content": []}}
CLAUDE = Reply("NO_FINDINGS", Usage(123, 7, 0.25), "model-1")
CODEX = "`codex exec --json`"

STARTED = {"type": "thread.started", "thread_id": "t"}
THOUGHT = {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}}
FIRST = {"type": "item.completed", "item": {"type": "agent_message", "text": "first"}}
LAST = {"type": "item.completed", "item": {"type": "agent_message", "text": "last"}}
DROPPED = {"type": "error", "message": "Reconnecting... 1/5"}
COMPLETED = {
    "type": "turn.completed",
    "usage": {"input_tokens": 50, "cached_input_tokens": 40, "output_tokens": 9},
}
FAILED = {"type": "turn.failed", "error": {"message": "usage\nlimit reached"}}

CHOICE = {"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
CHAT = {
    "model": "model-2",
    "choices": [CHOICE],
    "usage": {"prompt_tokens": 11, "completion_tokens": 4},
}


def _one(document: object) -> bytes:
    return json.dumps(document).encode()


def _lines(*events: object) -> bytes:
    return b"".join(_one(event) + b"\n" for event in events)


@pytest.mark.rule("TRN-10")
@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("text", "grüße\n".encode(), Reply("grüße\n")),
        ("claude-json", _one(RESULT), CLAUDE),
        ("claude-json", json.dumps(RESULT, indent=2).encode(), CLAUDE),
        ("claude-json", _one([INIT, SAID, RESULT]), CLAUDE._replace(model="model-0")),
        ("claude-json", _lines(INIT, SAID, RESULT), CLAUDE._replace(model="model-0")),
        (
            "claude-json",
            _lines(RESULT | {"result": "earlier"}, RESULT, SAID),
            CLAUDE,
        ),
        (
            "claude-json",
            _one({"type": "result", "subtype": "success", "is_error": False, "result": "x"}),
            Reply("x"),
        ),
        (
            "claude-json",
            _one(RESULT | {"modelUsage": {"a": 1, "b": 2}, "stop_reason": "end_turn"}),
            CLAUDE._replace(model=""),
        ),
        (
            "claude-json",
            _one(RESULT | {"usage": {"input_tokens": True, "output_tokens": -1}}),
            CLAUDE._replace(usage=Usage(0, 0, 0.25)),
        ),
        (
            "claude-json",
            _one(RESULT | {"usage": 3, "total_cost_usd": float("nan")}),
            CLAUDE._replace(usage=Usage()),
        ),
        (
            "claude-json",
            _one(RESULT | {"usage": {"input_tokens": 10**300}, "total_cost_usd": 10**400}),
            CLAUDE._replace(usage=Usage()),
        ),
        (
            "codex-jsonl",
            _lines(STARTED, FIRST, DROPPED, LAST, THOUGHT, COMPLETED),
            Reply("last", Usage(50, 9)),
        ),
        ("codex-jsonl", _lines(LAST, {"type": "turn.completed"}), Reply("last")),
        ("openai-chat-completions", _one(CHAT), Reply("hello", Usage(11, 4), "model-2")),
        ("openai-chat-completions", _one({"choices": [CHOICE]}), Reply("hello")),
    ],
)
def test_a_whole_reply(kind: Kind, data, expected):
    assert parse(kind, data) == expected
    assert usage(kind, data) == expected.usage


CUT_OFF = "reply-cut-off"
NO_RESULT = "no event of type result, expected one at the end"
CLAUDE = "`claude -p --output-format json`"
CODEX = "`codex exec --json`"
NOT_A_LINE = f"line 1, which is not a JSON object, expected what {CLAUDE} prints"


def _choice(**changes: object) -> bytes:
    return _one(CHAT | {"choices": [CHOICE | changes]})


@pytest.mark.rule("TRN-10")
@pytest.mark.parametrize(
    ("kind", "data", "code", "found"),
    [
        ("text", b"", "reply-empty", "no text, expected an answer"),
        ("text", b" \n\t", "reply-empty", "no text, expected an answer"),
        ("text", b"\xff", "reply-not-text", "bytes that are not UTF-8, expected UTF-8 text"),
        ("claude-json", b"", "reply-empty", "no text, expected an answer"),
        ("claude-json", b"Error: not logged in", "reply-not-json", NOT_A_LINE),
        ("claude-json", _one(RESULT)[:-5], "reply-not-json", NOT_A_LINE),
        ("claude-json", b"[]", CUT_OFF, NO_RESULT),
        ("claude-json", b"{}", CUT_OFF, NO_RESULT),
        ("claude-json", b"null", "reply-not-json", NOT_A_LINE),
        ("claude-json", _lines(INIT, SAID), CUT_OFF, NO_RESULT),
        (
            "claude-json",
            _lines(INIT) + _one(RESULT)[:40],
            "reply-not-json",
            f"line 2, which is not a JSON object, expected what {CLAUDE} prints",
        ),
        (
            "claude-json",
            _one(RESULT | {"is_error": True, "result": "API Error:\n 529"}),
            "reply-failed",
            "is_error True: API Error: 529, expected false",
        ),
        (
            "claude-json",
            _one({key: value for key, value in RESULT.items() if key != "is_error"}),
            "reply-failed",
            "is_error nothing: NO_FINDINGS, expected false",
        ),
        (
            "claude-json",
            _one(RESULT | {"subtype": "error_max_turns"}),
            "reply-failed",
            "subtype error_max_turns, expected success",
        ),
        (
            "claude-json",
            _one(RESULT | {"stop_reason": "max_tokens"}),
            CUT_OFF,
            "stop_reason max_tokens, expected an answer that was finished",
        ),
        (
            "claude-json",
            _one(RESULT | {"result": ""}),
            "reply-empty",
            "no text, expected an answer",
        ),
        (
            "claude-json",
            _one(RESULT | {"result": ["x"]}),
            "reply-empty",
            "no text, expected an answer",
        ),
        ("claude-json", b"[" * 100_000, "reply-not-json", NOT_A_LINE),
        (
            "claude-json",
            _one(RESULT | {"result": "x\ud800"}),
            "reply-not-text",
            "half of a surrogate pair, expected UTF-8 text",
        ),
        (
            "claude-json",
            _one(RESULT | {"subtype": "x\ud800"}),
            "reply-failed",
            "subtype x?, expected success",
        ),
        ("codex-jsonl", b"", "reply-empty", "no text, expected an answer"),
        ("codex-jsonl", b"hello", "reply-not-json", NOT_A_LINE.replace(CLAUDE, CODEX)),
        (
            "codex-jsonl",
            _lines(STARTED, LAST),
            CUT_OFF,
            "no event turn.completed, expected one at the end",
        ),
        (
            "codex-jsonl",
            _lines(LAST, COMPLETED, FAILED),
            "reply-failed",
            "turn.failed: usage limit reached, expected turn.completed",
        ),
        (
            "codex-jsonl",
            _lines(LAST) + _one(COMPLETED)[:20],
            "reply-not-json",
            "line 2, which is not a JSON object, expected what `codex exec --json` prints",
        ),
        (
            "codex-jsonl",
            _lines(THOUGHT, COMPLETED),
            "reply-empty",
            "no text, expected an answer",
        ),
        (
            "openai-chat-completions",
            b"<html>",
            "reply-not-json",
            "text that is not a JSON object, expected a chat completion",
        ),
        (
            "openai-chat-completions",
            _one({"error": {"message": "quota " * 60}}),
            "reply-failed",
            f"error {('quota ' * 60)[:200]}…, expected a chat completion",
        ),
        (
            "openai-chat-completions",
            _one({"error": "no"}),
            "reply-failed",
            "error no, expected a chat completion",
        ),
        (
            "openai-chat-completions",
            _choice(finish_reason="length"),
            CUT_OFF,
            "finish_reason length, expected stop",
        ),
        (
            "openai-chat-completions",
            _choice(finish_reason=None),
            CUT_OFF,
            "finish_reason nothing, expected stop",
        ),
        (
            "openai-chat-completions",
            _choice(finish_reason="content_filter"),
            "reply-failed",
            "finish_reason content_filter, expected stop",
        ),
        (
            "openai-chat-completions",
            _one(CHAT | {"choices": []}),
            CUT_OFF,
            "finish_reason nothing, expected stop",
        ),
        (
            "openai-chat-completions",
            _choice(message={"content": None}),
            "reply-empty",
            "no text, expected an answer",
        ),
    ],
)
def test_what_is_no_reply(kind: Kind, data, code, found):
    problem = parse(kind, data)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.message) == (code, f"reply: found {found}")


@pytest.mark.rule("TRN-10", "SEC-02")
def test_a_reply_over_the_limit_is_none():
    problem = parse("text", b"x" * 11, limit=10)
    assert isinstance(problem, Problem)
    assert problem.message == "reply: found 11 bytes, expected at most 10"
    assert problem.code == "reply-too-large"
    assert LIMIT == 8 * 1024 * 1024


@pytest.mark.rule("TRN-10", "TRN-09")
@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("claude-json", _one(RESULT | {"subtype": "error_max_turns"}), Usage(123, 7, 0.25)),
        ("codex-jsonl", _lines(COMPLETED, FAILED), Usage(50, 9)),
        ("openai-chat-completions", _choice(finish_reason="length"), Usage(11, 4)),
        ("claude-json", b"oops", Usage()),
        ("codex-jsonl", b"oops", Usage()),
        ("openai-chat-completions", b"oops", Usage()),
        ("text", b"oops", Usage()),
        ("text", b"\xff", Usage()),
    ],
)
def test_a_useless_reply_is_paid_for_all_the_same(kind: Kind, data, expected):
    assert usage(kind, data) == expected


KINDS = st.sampled_from(["text", "claude-json", "codex-jsonl", "openai-chat-completions"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                """type subtype is_error result usage item text error message choices
                finish_reason content""".split()
            ),
            inner | st.sampled_from(["result", "success", "turn.completed", "agent_message"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.rule("TRN-10", "SEC-01")
@given(KINDS, st.binary(max_size=200) | JSON.map(_one) | st.lists(JSON).map(lambda x: _lines(*x)))
def test_any_bytes_give_a_reply_or_a_problem(kind: Kind, data: bytes) -> None:
    answer = parse(kind, data)
    assert isinstance(answer, Reply | Problem)
    assert isinstance(usage(kind, data), Usage)
    if isinstance(answer, Reply):
        assert answer.text.strip()
