"""The programs that a command starts: each leads a process group, and none outlives the command."""

from __future__ import annotations

import os
import select
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from qrspi.core.hints import IO, Literal, Self
from qrspi.core.named_tuple import NamedTuple

GRACE = 2.0  # between asking a program to end and killing it
MARK = "QRSPI_DISPATCH"
LINGER = 0.5  # to read what a program that has ended left in the pipe
TAIL = 4096  # of its stderr: the reason stands at the end
_BLOCK = 64 * 1024
_GLANCE = 0.05  # where the kernel cannot tell us that a program has ended

Ending = Literal["exited", "timeout", "too-much", "interrupted"]


class Children:
    def __init__(self) -> None:
        self.grace = GRACE
        self._groups: set[int] = set()
        self._changed = threading.Condition()
        self._killer: OrphanKiller | None = None
        # Readable when all must end. Not an Event: a selector cannot wait for one.
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
        process = self._start(argv, directory, environment)
        if process is None:
            return Spoken("interrupted")
        try:
            return Conversation(
                process=process,
                given=given,
                ended=self._ended,
                timeout=timeout,
                limit=limit,
                grace=self.grace,
            ).held()
        finally:
            self._over(process)

    def end_all(self) -> None:
        """Wake every listening thread, so that it ends its program; none can start after this."""
        with self._changed:
            if self._end < 0:
                return
            os.close(self._end)
            self._end = -1
            gone = self._changed.wait_for(lambda: not self._groups, self.grace + 1.0)
            if self._killer:
                self._killer.dismiss(nobody_left=gone)
            if gone:
                os.close(self._ended)

    def _start(
        self, argv: Sequence[str], directory: str, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes] | None:
        with self._changed:
            if self._end < 0:
                return None
            killer = self._killer = self._killer or OrphanKiller(self.grace)
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={**environment, MARK: killer.mark},
                start_new_session=True,
                bufsize=0,
            )
            self._groups.add(process.pid)
            killer.tell(f"+{process.pid}")
        return process

    def _over(self, process: subprocess.Popen[bytes]) -> None:
        with self._changed:
            self._groups.discard(process.pid)
            if self._killer and self._end >= 0:
                self._killer.tell(f"-{process.pid}")
            self._changed.notify_all()


class Spoken(NamedTuple):
    ending: Ending
    status: int = 0
    out: bytes = b""
    tail: bytes = b""
    seconds: float = 0.0


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
            ExitWatch(self._process) as sign,
        ):
            self._listen(selector, sign)
            try:
                while self._ending is None:
                    self._turn(selector, sign)
            finally:
                sign.end_group(self._grace)
            status = self._process.wait()
        return Spoken(
            ending=self._ending,
            status=status,
            out=bytes(self._out[: self._limit + 1]),
            tail=self._tail,
            seconds=time.monotonic() - self._began,
        )

    def _listen(self, selector: selectors.BaseSelector, sign: ExitWatch) -> None:
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

    def _turn(self, selector: selectors.BaseSelector, sign: ExitWatch) -> None:
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
        """Handle what has happened; False when nothing more will happen there."""
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
            return False  # it does not read the rest
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
        """A program that it left behind may keep the pipes open; nobody waits for that."""
        self._exited = True
        self._deadline = min(self._deadline, time.monotonic() + LINGER)

    def _close(self, what: str) -> None:
        if what in self._open:
            self._open.pop(what).close()


class ExitWatch:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        # Linux only. Elsewhere the conversation looks twenty times a second.
        self.fd = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            os.close(self.fd)

    def wait(self, seconds: float) -> bool:
        if self.fd >= 0:
            waiting = select.poll()
            waiting.register(self.fd, select.POLLIN)
            return bool(waiting.poll(seconds * 1000))
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def end_group(self, grace: float) -> None:
        """Until the leader is reaped, nobody else can have its number."""
        if not self.wait(0):
            self._signal_group(signal.SIGTERM)
            self.wait(grace)
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        # EPERM: macOS says so of a group in which only a zombie is left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


_PROGRAM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
grace, mark = float(sys.argv[1]), sys.argv[2].encode()
groups = set()
for line in sys.stdin:
    if line == "bye\\n":
        sys.exit()
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))

def marked(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\\0")
    except OSError:
        return False

def end(sign):
    pids = os.listdir("/proc") if os.path.isdir("/proc/self") else []
    for pid in pids:
        if pid.isdigit() and marked(pid):
            try:
                groups.add(os.getpgid(int(pid)))
            except OSError:
                pass
    for group in groups:
        try:
            os.killpg(group, sign)
        except OSError:
            pass

end(signal.SIGTERM)
if groups:
    time.sleep(grace)
    end(signal.SIGKILL)
"""


class OrphanKiller:
    """A tiny process that ends our children when we are killed. A signal at the parent's death
    (PR_SET_PDEATHSIG) would reach an agent but none of the programs that it has started. When its
    pipe closes without a word, it ends every process group it was told of, and those of all
    processes with our mark in the environment: started when we were killed, or in a session of
    their own."""

    def __init__(self, grace: float) -> None:
        self.mark = os.urandom(16).hex()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(grace), f"{MARK}={self.mark}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # A person who kills this process wants the children to live on.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def dismiss(self, *, nobody_left: bool = True) -> None:
        """End it; unless `nobody_left`, it first ends everybody still on its list."""
        if nobody_left:
            self.tell("bye")
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
