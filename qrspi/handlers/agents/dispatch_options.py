"""How a command was asked to send agents, and who is told about the progress."""

from __future__ import annotations

from qrspi.core.config.blocks import Limits
from qrspi.core.hints import Literal, Protocol
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple

Executor = Literal["local", "celery"]  # threads of this command, or workers elsewhere
JOBS: dict[Executor, int] = {"local": 8, "celery": 256}  # at once, unless somebody says otherwise


class How(NamedTuple):
    tier: str | None = None
    scripts: str = ""  # a folder that answers in place of every agent
    executor: Executor = "local"


AS_CONFIGURED = How()


class Sending(NamedTuple):
    jobs: int | None = None  # at once; None: as many as its executor usually has
    limits: Limits = Limits()
    only: tuple[str, ...] = ()
    how: How = AS_CONFIGURED

    @property
    def at_once(self) -> int:
        return self.jobs or JOBS[self.how.executor]


class Listener(Protocol):
    """Told from the command's own thread."""

    def note(self, text: str) -> None: ...

    def begun(self, names: tuple[str, ...]) -> None: ...

    def ended(self, name: str, problem: Problem | None) -> None: ...

    def cut_off(self, run: str, calls: int, going_on: int) -> None:
        """How many calls ended with an interrupted command, and how many continue elsewhere."""
