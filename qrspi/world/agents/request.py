"""What a transport is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import SpooledTemporaryFile

from qrspi.core.agents.replies import LIMIT, Kind
from qrspi.core.agents.transports import Means
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.world.consent.permits import Permit

USUAL = 256 * 1024  # bytes; hardly any answer is longer


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
    hidden: tuple[str, ...] = ()  # what tells an agent its run, which it must not know
    result_file: str = ""  # absolute: where a broker leaves its answer
    broker_job: str = ""  # launched by a command that ended before the answer came
    # told before the answer is awaited: under which id, and by whose ticket
    launched: Callable[[str, str], None] = lambda job, ticket: None
    started: Callable[[str], None] = lambda worker: None  # told when a worker begins with it
    settled: Callable[[], Answer | None] = lambda: None  # how it ended before it was waited for
    attempt: int = 1
    seconds: float = 0.0  # that the whole call may take; 0: as the transport has it
    limit: int = LIMIT
    permit: Permit | None = None  # for what the repository names


class ReplyBuffer:
    """A long answer waits on disk: thirty at once take no more memory than the one being read."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=USUAL)  # noqa: SIM115  # `whole` closes it
        self.size = 0

    @property
    def is_long(self) -> bool:
        return self.size > USUAL

    def add(self, block: bytes) -> None:
        self._file.write(block)
        self.size += len(block)

    def close(self) -> None:
        self._file.close()

    def whole(self) -> bytes:
        """All of it. The buffer is closed afterwards."""
        with self._file:
            self._file.seek(0)
            return self._file.read()


class Answer(NamedTuple):
    """With a problem the answer is of no use, but it may tell what it cost."""

    data: bytes = b""
    seconds: float = 0.0
    problem: Problem | None = None
    heard: ReplyBuffer | None = None  # the data, where it may be long
    reply: Kind | None = None  # its form, where only the worker knows it
    worker: str = ""  # who made the call, if it was not this process
    kept: Callable[[], None] = lambda: None  # called when this needs no second delivery

    def whole(self) -> Answer:
        return self._replace(data=self.heard.whole(), heard=None) if self.heard else self


# Nobody was asked, so there is nothing to count or to pay.
UNMADE: frozenset[Code] = frozenset(
    (
        "broker-lost",  # the next command finds what was made there
        "broker-unreachable",
        "message-too-large",
        "transport-no-key",
        "transport-no-httpx",
        "transport-no-program",
        "transport-no-script",
        "transport-unreachable",
        "worker-none",
        "worker-refused",
    )
)
