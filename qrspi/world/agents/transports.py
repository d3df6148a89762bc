"""How agents are reached: one `send(request, wire)` per transport."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.agents.transports import Transport
from qrspi.core.config import vendors
from qrspi.core.model import Problem
from qrspi.world.agents import chat_completions, codex_broker, command_line, fleet, scripted_replies
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.consent import permits


def send(request: Request, wire: DispatchContext) -> Answer:
    permits.must_cover(request.permit, request.means.named)
    provider = request.means.provider
    if provider and not vendors.is_private(provider.base_url):
        text = f"{provider.base_url} would get the key in clear: expected {vendors.ADDRESS}"
        return Answer(problem=Problem("transport-in-clear", text, found=provider.base_url))
    return TRANSPORTS[request.means.transport](request, wire)


def _left_to_host(request: Request, wire: DispatchContext) -> Answer:
    text = f"{request.name} is for the host to send: "
    text += "config.md has neither a command nor a provider for its vendor"
    hint = f"qrspi prompt {request.run.rpartition('/')[2]} {request.name}"
    return Answer(problem=Problem("transport-host", text, hint=hint))


TRANSPORTS: dict[Transport, Callable[[Request, DispatchContext], Answer]] = {
    "host": _left_to_host,
    "command": command_line.send,
    "openai-chat-completions": chat_completions.send,
    "codex-broker": codex_broker.send,
    "celery": fleet.send,
    "scripted": scripted_replies.send,
}
