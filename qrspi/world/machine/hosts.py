"""Beside whom the engine runs, who else could review, and which repositories are trusted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core.agents.transports import HOST, means
from qrspi.core.config.reader import Config

TRUST = "QRSPI_TRUST"  # folders, parted like PATH, whose repositories may run their own hooks
BROKER = "QRSPI_BROKER"
USUAL_BROKER = "codex-broker"
SECOND_PROGRAM = "codex"


def detect(environment: Mapping[str, str]) -> str:
    if environment.get("COPILOT_CLI") == "1":
        return "copilot"
    return "claude-code" if environment.get("CLAUDECODE") else "plain"


class Availability(NamedTuple):
    """Whether a second vendor could review, and what that was seen by."""

    host: str
    available: bool
    why: str


def second_vendor(config: Config, environment: Mapping[str, str]) -> Availability:
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


def mismatch(found: Availability, config: Config) -> str | None:
    """The line that says so when config.md and the world disagree."""
    asked = config.second_reviewer is True
    if asked == found.available:
        return None
    seen = "available" if found.available else "not available"
    return (
        f"[mismatch] host {found.host}: a second reviewer is {seen} ({found.why}), "
        f"and second_reviewer in config.md is {str(asked).lower()}"
    )


def is_trusted(project: str, environment: Mapping[str, str]) -> bool:
    """Only the user's own environment says so: whatever is in a repository can be forged."""
    real = os.path.realpath(project)
    folders = (
        os.path.realpath(name) for name in environment.get(TRUST, "").split(os.pathsep) if name
    )
    return any(real == folder or real.startswith(f"{folder.rstrip('/')}/") for folder in folders)
