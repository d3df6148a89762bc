"""The agent beside us: nothing is sent, the prompt waits for it."""

from __future__ import annotations

from qrspi.world.agents.dispatch_context import Wire
from qrspi.world.agents.request import Answer, Request, failure


def send(request: Request, wire: Wire) -> Answer:
    text = (
        f"{request.name} is the host's to send: config.md has neither a command nor a provider "
        "for its vendor"
    )
    return Answer(problem=failure("host", text, hint="qrspi config set commands"))
