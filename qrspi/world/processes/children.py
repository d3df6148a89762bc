"""The programs a command starts: each the head of a process group, none of which outlives it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence

from qrspi.world.processes.orphan_killer import MARK, Keeper
from qrspi.world.processes.pipes import Conversation, Spoken

GRACE = 2.0  # between asking a program to end and ending it


class Children:
    def __init__(self, grace: float = GRACE) -> None:
        self.grace = grace
        self._groups: set[int] = set()
        self._changed = threading.Condition()
        self._keeper: Keeper | None = None
        # Readable once everybody is to end: a selector sees that at once, an event it would not.
        self._ended, self._end = os.pipe()

    def converse(
        self,
        argv: Sequence[str],
        given: bytes,
        *,
        directory: str,
        environment: Mapping[str, str],
        timeout: float,
        limit: int,
    ) -> Spoken:
        """Start a program, hand it its input, and listen until it ends or has to."""
        process = self._start(argv, directory, environment)
        if process is None:
            return Spoken("interrupted", 0, b"", b"", 0.0)
        try:
            return Conversation(process, given, self._ended, timeout, limit, self.grace).held()
        finally:
            self._over(process)

    def end_all(self) -> None:
        """Wake everybody who listens, so that each ends its own; afterwards none can be started."""
        with self._changed:
            if self._end < 0:
                return
            os.close(self._end)
            self._end = -1
            gone = self._changed.wait_for(lambda: not self._groups, self.grace + 1.0)
            if self._keeper:
                self._keeper.dismiss(nobody_left=gone)
            if gone:
                os.close(self._ended)

    def _start(
        self, argv: Sequence[str], directory: str, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes] | None:
        with self._changed:
            if self._end < 0:
                return None
            keeper = self._keeper = self._keeper or Keeper(self.grace)
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={**environment, MARK: keeper.mark},
                start_new_session=True,
                bufsize=0,
            )
            self._groups.add(process.pid)
            keeper.tell(f"+{process.pid}")
        return process

    def _over(self, process: subprocess.Popen[bytes]) -> None:
        with self._changed:
            self._groups.discard(process.pid)
            if self._keeper and self._end >= 0:
                self._keeper.tell(f"-{process.pid}")
            self._changed.notify_all()
