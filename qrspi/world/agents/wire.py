"""What one command's dispatches share while they wait: processes, connections, the way to stop."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from qrspi.core import secrets
from qrspi.world.agents.children import Children

if TYPE_CHECKING:
    from httpx import Client


class Wire:
    """Used as a context: whatever is still under way at its end is ended."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        pause: Callable[[float], None] | None = None,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
        key_names: tuple[str, ...] = (),
        scripts: str = "",
    ) -> None:
        self.environment = os.environ if environment is None else environment
        self.stop = threading.Event()
        self.children = Children()
        self.chance = chance
        self.clock = clock
        self.scripts = scripts
        self.keys = secrets.known(self.environment, key_names)
        self._pause = pause
        self._client: Client | None = None
        self._guard = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop.set()
        self.children.end_all()
        if self._client:
            self._client.close()

    def pause(self, seconds: float) -> None:
        """Wait before another try; not longer than the command lives."""
        if self._pause is not None:
            self._pause(seconds)
        else:
            self.stop.wait(seconds)

    def client(self, make: Callable[[], Client]) -> Client:
        """One for all threads: it keeps the certificates, which take 30 ms to load."""
        with self._guard:
            if self._client is None:
                self._client = make()
            return self._client

    def redacted(self, text: str) -> str:
        return secrets.redacted(text, self.keys)
