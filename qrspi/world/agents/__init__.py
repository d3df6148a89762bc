"""How agents are reached: one module per transport, each with `send(request, wire)`."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.agents.transports import Transport
from qrspi.world.agents import chat_completions as http
from qrspi.world.agents import codex_broker as broker
from qrspi.world.agents import command_line as command
from qrspi.world.agents import host_agent as host
from qrspi.world.agents import scripted_replies as scripted
from qrspi.world.agents.dispatch_context import Wire
from qrspi.world.agents.request import Answer, Request

TRANSPORTS: dict[Transport, Callable[[Request, Wire], Answer]] = {
    "host": host.send,
    "command": command.send,
    "openai-chat-completions": http.send,
    "codex-broker": broker.send,
    "scripted": scripted.send,
}


def send(request: Request, wire: Wire) -> Answer:
    return TRANSPORTS[request.means.transport](request, wire)
