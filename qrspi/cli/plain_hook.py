"""`qrspi hook` without click: hosts ask before every edit, and are not kept waiting.

A hook never stands in anybody's way by failing. Whatever goes wrong is one line on stderr, and the
exit status is 0, since Copilot takes any other for a no to every tool.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in `qrspi.cli`
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

EVENTS = ("pre-tool", "stop", "session-start")
HOSTS = ("claude-code", "codex", "copilot")
_USE = f"`qrspi hook EVENT --host HOST` (EVENT: {', '.join(EVENTS)}; HOST: {', '.join(HOSTS)})"


def reply(words: Sequence[str]) -> None:
    try:
        document = _answer(words)
    except Exception as error:
        _complain(f"{type(error).__name__}: {error}")
        return
    if document:
        import json

        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()


def _answer(words: Sequence[str]) -> dict[str, Any] | None:
    from qrspi.hooks import answer

    match list(words):
        case [event, "--host", host] | ["--host", host, event] if event in EVENTS and host in HOSTS:
            return answer.answer(event, host, sys.stdin.buffer.read())
        case _:
            typed = " ".join(["qrspi hook", *words])
            _complain(f"expected {_USE}, found `{typed}`; `qrspi install` writes it anew")
            return None


def _complain(text: str) -> None:
    line = " ".join(text.split())[:300]
    sys.stderr.write(f"hook of qrspi: {line}\n")
