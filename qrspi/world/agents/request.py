"""What a transport is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from qrspi.core.agents.replies import LIMIT
from qrspi.core.agents.transports import Means
from qrspi.core.model import Problem

if TYPE_CHECKING:
    from qrspi.world.agents.reply_buffer import Hearing


class Request(NamedTuple):
    name: str  # quality-claude, verify-quality-claude.finding-F01, author, fixer
    step: str
    round: int
    prompt: bytes
    means: Means
    model: str
    directory: str  # where a command runs
    trusted: bool = False  # whether that repository may run its own agent hooks
    run: str = ""  # the run's folder
    result_file: str = ""  # absolute: where a broker leaves its answer
    broker_job: str = ""  # launched by a command that did not live to see its answer
    launched: Callable[[str], None] = lambda job: None  # told before the answer is awaited
    limit: int = LIMIT


class Answer(NamedTuple):
    """All that came back. With a problem it is of no use, though it may tell what it cost."""

    data: bytes = b""
    seconds: float = 0.0
    problem: Problem | None = None
    heard: Hearing | None = None  # the data, where it may be long

    def whole(self) -> Answer:
        return self._replace(data=self.heard.whole(), heard=None) if self.heard else self


# Nobody was asked, so there is nothing to count and nothing to pay.
UNMADE = frozenset(
    f"transport-{code}" for code in ("no-key", "no-httpx", "no-program", "no-script", "unreachable")
)


def failure(code: str, message: str, *, found: str = "", hint: str = "") -> Problem:
    return Problem(f"transport-{code}", message, found=found, hint=hint)
