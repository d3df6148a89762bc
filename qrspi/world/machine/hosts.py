"""Which host the engine runs beside, and whether a second vendor could review."""

from __future__ import annotations

import os
from collections.abc import Mapping

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config

BROKER = "QRSPI_BROKER"
USUAL_BROKER = "codex-broker"
SECOND_PROGRAM = "codex"


def detect(environment: Mapping[str, str]) -> str:
    if environment.get("COPILOT_CLI") == "1":
        return "copilot"
    return "claude-code" if environment.get("CLAUDECODE") else "plain"


def identity() -> str:
    """Containers of one image share their id, but not their name."""
    try:
        with open("/etc/machine-id", encoding="ascii") as file:
            number = file.read(64).strip()
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"{os.uname().nodename} {number}"


class Availability(NamedTuple):
    host: str
    available: bool
    why: str


def second_vendor(config: Config, environment: Mapping[str, str]) -> Availability:
    # Imported here: every command asks for its host, and few for a second vendor.
    import shutil

    from qrspi.core.agents.transports import HOST, means

    host = detect(environment)
    model = config.second_reviewer_model
    way = means(model.vendor, config) if model else HOST
    if way.provider:
        name = way.provider.api_key_env
        there = bool(environment.get(name))
        return Availability(host, there, f"the variable {name} is {'' if there else 'not '}set")
    if host == "copilot" and not way.command:
        return Availability(host, True, "the host reaches it by itself")
    program = way.command.argv[0] if way.command and way.command.argv else SECOND_PROGRAM
    there = shutil.which(program, path=environment.get("PATH")) is not None
    return Availability(host, there, f"{program} is {'' if there else 'not '}on the PATH")


def mismatch(host: Availability, config: Config) -> str | None:
    asked = config.second_reviewer is True
    if asked == host.available:
        return None
    seen = "available" if host.available else "not available"
    setting = f"second_reviewer in config.md is {str(asked).lower()}"
    return f"[mismatch] host {host.host}: a second reviewer is {seen} ({host.why}), and {setting}"
