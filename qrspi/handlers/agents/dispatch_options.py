"""How a command was asked to send agents, and who is told how it goes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from qrspi.core.config.blocks import Limits
from qrspi.core.model import Problem

JOBS = 8


class How(NamedTuple):
    """What a command asks for beyond what config.md says."""

    tier: str | None = None
    scripts: str = ""  # a folder that answers in place of every agent


AS_CONFIGURED = How()


class Sending(NamedTuple):
    jobs: int = JOBS
    limits: Limits = Limits()
    only: tuple[str, ...] = ()
    how: How = AS_CONFIGURED
    executor: str = "local"


class Listener(Protocol):
    """Told from the command's own thread."""

    def note(self, text: str) -> None: ...

    def begun(self, names: tuple[str, ...]) -> None: ...

    def ended(self, name: str, problem: Problem | None) -> None: ...

    def cut_off(self, run: str, calls: int) -> None:
        """So many calls were under way when the command was interrupted."""
