"""How a vendor is reached: by its provider, else by its command, else by the host."""

from __future__ import annotations

from qrspi.core.hints import TYPE_CHECKING, Literal
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qrspi.core.agents.replies import Kind
    from qrspi.core.config.reader import Config
    from qrspi.core.config.vendors import Command, Provider
    from qrspi.core.trust import NamedThing

Transport = Literal[
    "host", "command", "openai-chat-completions", "codex-broker", "celery", "scripted"
]

# For people and logs: said once for each transport of a fan-out.
TRACES: dict[Transport, str] = {
    "host": "[transport: task-tool]",
    "command": "[transport: shell-pipeline]",
    "codex-broker": "[transport: shell-pipeline]",
    "openai-chat-completions": "[transport: http]",
    "celery": "[transport: celery]",
    "scripted": "[transport: scripted]",
}


class Means(NamedTuple):
    transport: Transport
    reply: Kind = "text"
    provider: Provider | None = None
    command: Command | None = None
    vendor: str = ""

    @property
    def named(self) -> NamedThing | None:
        """What the user has to allow before an agent is sent this way."""
        if not (self.provider or self.command):
            return None
        from qrspi.core import trust

        if self.provider:
            return trust.address(self.vendor, self.provider)
        return trust.program(self.vendor, self.command) if self.command else None

    @property
    def prints(self) -> bool:
        """Every agent that the engine sends prints its answer, even if it could write files. So all
        agents have the same contract, and only the engine writes."""
        return self.transport != "host"


HOST = Means("host")
SCRIPTED = Means("scripted")


def by_fleet(vendor: str) -> Means:
    """A worker elsewhere knows the program or address, and the form of the answer."""
    return Means("celery", vendor=vendor)


def means(vendor: str, config: Config) -> Means:
    if provider := (config.providers or {}).get(vendor):
        transport = provider.transport_type
        kind: Kind = transport if transport == "openai-chat-completions" else "text"
        return Means(transport, kind, provider=provider, vendor=vendor)
    if command := (config.commands or {}).get(vendor):
        return Means("command", command.reply, command=command, vendor=vendor)
    return HOST
