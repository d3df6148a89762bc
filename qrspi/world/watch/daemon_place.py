"""The daemon's place at a folder of runs: taken again when the folder is another one."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Self

from qrspi.world.machine import clock
from qrspi.world.runs import heartbeat


class Post:
    def __init__(self, runs_dir: str) -> None:
        self._runs_dir = runs_dir
        self._started = clock.now_utc()
        self._mark: heartbeat.Mark | None = None
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def keep(self) -> None:
        """Be the one daemon, or be refused; and say that we live. A folder that is gone has no
        daemon until it is there again."""
        if self._mark and not self._mark.stands():
            self._held.close()
            self._mark = None
        if self._mark is None and os.path.isdir(self._runs_dir):
            watching = heartbeat.watching(self._runs_dir, self._started)
            self._mark = self._held.enter_context(watching)
        if self._mark:
            self._mark(clock.now_utc())
