"""Programs beside the daemon, a few at a time: it never waits for one, and none outlives it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Self

from qrspi.core.named_tuple import NamedTuple

AT_ONCE = 4

_GRACE = 1.0
_MOST = 8 * 1024 * 1024


class SideProgram(NamedTuple):
    what: str
    run: str
    argv: tuple[str, ...]
    given: bytes = b""
    limit: float | None = None  # seconds


class Ended(NamedTuple):
    program: SideProgram
    status: int | None  # None: it was still running at its limit, or could not be started
    out: bytes = b""
    err: str = ""


class SideProcesses:
    def __init__(self, wake: Callable[[], None], at_once: int = AT_ONCE) -> None:
        self._wake = wake
        self._due: queue.SimpleQueue[SideProgram | None] = queue.SimpleQueue()
        self._over: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._closed = False
        self._workers: list[threading.Thread] = []
        self._at_once = at_once

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._closed = True
            running = list(self._running)
        for process in running:
            _end(process, signal.SIGTERM)
        for _worker in self._workers:
            self._due.put(None)
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE / len(running))
            _end(process, signal.SIGKILL)

    def start(self, program: SideProgram) -> None:
        self._due.put(program)
        if len(self._workers) < self._at_once:
            worker = threading.Thread(target=self._work, daemon=True)
            self._workers.append(worker)
            worker.start()

    def ended(self) -> list[Ended]:
        ended: list[Ended] = []
        with suppress(queue.Empty):
            while True:
                ended.append(self._over.get_nowait())
        return ended

    def _work(self) -> None:
        while program := self._due.get():
            self._over.put(self._run(program))
            self._wake()

    def _run(self, program: SideProgram) -> Ended:
        # Files instead of pipes: a program that reads nothing, or leaves a child behind that keeps
        # its output open, keeps nobody waiting.
        scratch = tempfile.TemporaryFile
        try:
            with scratch() as given, scratch() as out, scratch() as err:
                given.write(program.given)
                given.seek(0)
                status = self._status(program, given, out, err)
                return Ended(program, status, _content(out), _content(err).decode(errors="replace"))
        except OSError as error:
            return Ended(program, None, b"", f"cannot be started: {error.strerror}")

    def _status(
        self, program: SideProgram, given: IO[bytes], out: IO[bytes], err: IO[bytes]
    ) -> int | None:
        with self._guard:
            if self._closed:
                return None
            process = subprocess.Popen(
                program.argv, stdin=given, stdout=out, stderr=err, start_new_session=True
            )
            self._running.add(process)
        try:
            return process.wait(program.limit)
        except subprocess.TimeoutExpired:
            _end(process, signal.SIGKILL)
            process.wait()
            return None
        finally:
            with self._guard:
                self._running.discard(process)


def _end(process: subprocess.Popen[bytes], sign: int) -> None:
    if process.poll() is None:  # otherwise its number may belong to somebody else by now
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(_MOST)
