"""One program's input and output, neither of which waits for the other."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, Literal, NamedTuple

LINGER = 0.5  # for what a program that has ended left in the pipe
TAIL = 4096  # of what it said on stderr: the reason stands at the end
_BLOCK = 64 * 1024
_GLANCE = 0.05  # where the kernel cannot tell us that a program has ended

Ending = Literal["exited", "timeout", "too-much", "interrupted"]


class Spoken(NamedTuple):
    ending: Ending
    status: int
    out: bytes
    tail: bytes
    seconds: float


class Conversation:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        given: bytes,
        ended: int,
        timeout: float,
        limit: int,
        grace: float,
    ) -> None:
        self._process = process
        self._given = memoryview(given)
        self._ended = ended
        self._limit = limit
        self._grace = grace
        self._out = bytearray()
        self._tail = b""
        self._began = time.monotonic()
        self._deadline = self._began + timeout
        self._ending: Ending | None = None
        self._exited = False
        self._open: dict[str, IO[bytes]] = {}

    def held(self) -> Spoken:
        with (
            self._process,
            selectors.DefaultSelector() as selector,
            _ExitSign(self._process) as sign,
        ):
            self._listen(selector, sign)
            try:
                while self._ending is None:
                    self._turn(selector, sign)
            finally:
                self._end(sign)
            status = self._process.wait()
        seconds = time.monotonic() - self._began
        return Spoken(
            self._ending, status, bytes(self._out[: self._limit + 1]), self._tail, seconds
        )

    def _listen(self, selector: selectors.BaseSelector, sign: _ExitSign) -> None:
        process = self._process
        streams = {"in": process.stdin, "out": process.stdout, "err": process.stderr}
        for what, stream in streams.items():
            assert stream is not None
            self._open[what] = stream
            os.set_blocking(stream.fileno(), False)
            events = selectors.EVENT_WRITE if what == "in" else selectors.EVENT_READ
            selector.register(stream.fileno(), events, what)
        selector.register(self._ended, selectors.EVENT_READ, "ended")
        if sign.fd >= 0:
            selector.register(sign.fd, selectors.EVENT_READ, "exit")

    def _turn(self, selector: selectors.BaseSelector, sign: _ExitSign) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            self._ending = "exited" if self._exited else "timeout"
            return
        for key, _ in selector.select(left if sign.fd >= 0 else min(left, _GLANCE)):
            if not self._goes_on(key.data, key.fd):
                selector.unregister(key.fd)
                self._close(key.data)
        if sign.fd < 0 and not self._exited and self._process.poll() is not None:
            self._note_exit()
        if self._exited and not self._open.keys() & {"out", "err"}:
            self._ending = self._ending or "exited"

    def _goes_on(self, what: str, fd: int) -> bool:
        """Deal with what has happened; False when nothing more will happen there."""
        match what:
            case "in":
                return self._hand_over(fd)
            case "out" | "err":
                return self._hear(what, fd)
            case "exit":
                self._note_exit()
                return False
            case _:
                self._ending = "interrupted"
                return True

    def _hand_over(self, fd: int) -> bool:
        try:
            written = os.write(fd, self._given[:_BLOCK]) if self._given else 0
        except BrokenPipeError:
            return False  # it does not want to know the rest
        self._given = self._given[written:]
        return bool(self._given)

    def _hear(self, what: str, fd: int) -> bool:
        data = os.read(fd, _BLOCK)
        if what == "err":
            self._tail = (self._tail + data)[-TAIL:]
        else:
            self._out += data
            if len(self._out) > self._limit:
                self._ending = "too-much"
        return bool(data)

    def _note_exit(self) -> None:
        """A program it left behind may keep the pipes open; nobody waits for that one."""
        self._exited = True
        self._deadline = min(self._deadline, time.monotonic() + LINGER)

    def _close(self, what: str) -> None:
        if what in self._open:
            self._open.pop(what).close()

    def _end(self, sign: _ExitSign) -> None:
        """The whole group, while its head is not reaped yet: until then the number is its own."""
        if not self._exited:
            signal_group(self._process.pid, signal.SIGTERM)
            sign.wait(self._grace)
        signal_group(self._process.pid, signal.SIGKILL)


class _ExitSign:
    """Tells that a process has ended, and leaves it to be reaped later."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        # Linux only. Elsewhere the conversation looks twenty times a second.
        self.fd = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else -1

    def __enter__(self) -> _ExitSign:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            os.close(self.fd)

    def wait(self, seconds: float) -> None:
        if self.fd < 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self.fd, selectors.EVENT_READ)
            selector.select(seconds)


def signal_group(group: int, sign: signal.Signals) -> None:
    # EPERM: macOS says so of a group in which only a zombie is left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, sign)
