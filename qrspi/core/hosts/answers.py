"""What a hook says, in the shape that each host reads."""

from __future__ import annotations

from typing import Any, Literal

HostName = Literal["claude-code", "codex", "copilot"]
OURS = "[qrspi]"  # starts all that a hook says, so that nobody takes it for the conversation


def refused(host: HostName, reason: str) -> dict[str, Any]:
    answer = {"permissionDecision": "deny", "permissionDecisionReason": f"{OURS} {reason}"}
    if host == "copilot":
        return answer
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}


def not_yet(reason: str) -> dict[str, Any]:
    """The answer to a stop; the same for all three hosts."""
    return {"decision": "block", "reason": f"{OURS} {reason}"}


def context(host: HostName, text: str) -> dict[str, Any]:
    said = f"{OURS} {text}"
    if host == "copilot":
        return {"additionalContext": said}
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": said}}
