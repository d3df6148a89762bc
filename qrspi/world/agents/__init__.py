"""How agents are reached: one module per transport, each with `send(request, wire)`."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.transports import Transport
from qrspi.world.agents import broker, command, host, http, scripted
from qrspi.world.agents.request import Answer, Request
from qrspi.world.agents.wire import Wire

TRANSPORTS: dict[Transport, Callable[[Request, Wire], Answer]] = {
    "host": host.send,
    "command": command.send,
    "openai-chat-completions": http.send,
    "codex-broker": broker.send,
    "scripted": scripted.send,
}


def send(request: Request, wire: Wire) -> Answer:
    return TRANSPORTS[request.means.transport](request, wire)
