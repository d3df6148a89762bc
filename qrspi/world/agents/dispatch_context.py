"""What one command's dispatches share while they wait: processes, connections, the way to stop."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from qrspi.core.text import redaction as secrets
from qrspi.world.agents.http_clients import Connections
from qrspi.world.processes.children import Children


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
        self.connections = Connections()

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
        self.connections.close()

    def pause(self, seconds: float) -> None:
        """Wait before another try; not longer than the command lives."""
        if self._pause is not None:
            self._pause(seconds)
        else:
            self.stop.wait(seconds)

    def redacted(self, text: str) -> str:
        return secrets.redacted(text, self.keys)
