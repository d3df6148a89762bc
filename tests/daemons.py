"""A real daemon, and what it logs."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.patience import LIMIT, until

COMMAND = Path(sys.executable).with_name("qrspi")

Line = dict[str, Any]


class Daemon:
    """`qrspi watch`; used as a context, it leaves no process behind."""

    def __init__(self, project: Path, *words: str | Path, ready: bool = True) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "--root", project, "watch", "--log-format", "json", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[Line] = []
        self.text: list[str] = []  # as it came
        self._lines: queue.Queue[Line | None] = queue.Queue()
        self._errors: list[str] = []
        self._readers = [threading.Thread(target=read) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()
        if ready:
            self.heard("looked")

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as lines:
            for line in lines:
                self.text.append(line)
                if line.startswith("{"):
                    self._lines.put(json.loads(line))
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        with self.process.stderr as lines:
            self._errors += lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self._ended()

    def heard(self, event: str, **more: object) -> Line:
        """The next line that says all this."""
        return self.until(lambda line: {**line, **more} == line and line["event"] == event)

    def until(self, wanted: Callable[[Line], bool], limit: float = LIMIT) -> Line:
        end = time.monotonic() + limit
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"not in the log after {limit:g} s: {self.log}") from None
            assert line, f"the daemon ended: {self.log} {self._errors}"
            self.log.append(line)
            if wanted(line):
                return line

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """The exit status; the rest of the log is read."""
        self.process.send_signal(sign)
        return self._ended()

    def pause(self) -> None:
        """Stopped, whatever it was at: a thread within the kernel ends its call first."""
        self.process.send_signal(signal.SIGSTOP)
        until(lambda: states(self.process.pid) == {"T"}, "stopped")

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    @property
    def errors(self) -> str:
        return "".join(self._errors)

    def _ended(self) -> int:
        status = self.process.wait(LIMIT)
        for reader in self._readers:
            reader.join(LIMIT)
        while not self._lines.empty():
            if line := self._lines.get():
                self.log.append(line)
        return status


def states(pid: int) -> set[str]:
    """Of all its threads, as the kernel says: R running, S asleep, D at the disk, T stopped."""
    stats = [task / "stat" for task in Path(f"/proc/{pid}/task").iterdir()]
    return {stat.read_text().rpartition(")")[2].split()[0] for stat in stats}
