"""Commands that config.md names: run only when allowed, limited, and never left running."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import threading

from qrspi.core.errors import Halt
from qrspi.core.hints import IO
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import redaction
from qrspi.world.consent.permits import Permit
from qrspi.world.processes.children import GRACE, ExitWatch, OrphanKiller

TIMEOUT = 3600.0
LIMIT = 8 * 1024 * 1024
TIMED_OUT = 124  # as `timeout` exits

_BLOCK = 64 * 1024
_LINGER = 1.0  # to read what a command that has ended left in the pipe
# These are about the caller's repository, not about the one that the command runs in.
_FOREIGN = frozenset(
    """GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE""".split()
)

_SET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+")
_OF_THE_SHELL = frozenset(
    """. : break case cd command continue eval exec exit export for if set test time trap type
    ulimit umask unset until wait while""".split()
)


class Ran(NamedTuple):
    status: int  # 124 when it was ended because it took too long
    output: bytes  # stdout and stderr as they came, without likely keys

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")


def run(permit: Permit, directory: str, timeout: float = TIMEOUT, limit: int = LIMIT) -> Ran:
    """A shell reads the line as the user would type it; its whole process group ends with it."""
    process = _start(permit.named.text, directory)
    killer = OrphanKiller(GRACE)
    killer.tell(f"+{process.pid}")
    with ExitWatch(process) as exit_watch:
        try:
            heard = _Heard(process.stdout, limit)
            timed_out = not exit_watch.wait(timeout)
        finally:
            exit_watch.end_group(GRACE)
            process.wait()
            killer.tell(f"-{process.pid}")
            killer.dismiss()
    code = process.returncode
    status = code if code >= 0 else 128 - code  # as a shell says it: ended by signal N is 128 + N
    output = heard.data().decode("utf-8", "replace")
    output = redaction.redacted(output, redaction.known(os.environ))
    return Ran(TIMED_OUT if timed_out else status, output.encode())


def missing_program(command: str, directory: str) -> str:
    """The program that the line begins with, if it is not there; '' where only the shell knows."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    first = next((word for word in words if not _SET.fullmatch(word)), "")
    if not _PROGRAM.fullmatch(first) or first in _OF_THE_SHELL:
        return ""
    place = os.path.join(directory, first) if "/" in first else first
    return "" if shutil.which(place) else first


def _start(command: str, directory: str) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        why = error.strerror or str(error)
        raise Halt(Problem("cannot-run", f"{command!r} cannot be started: {why}")) from None


class _Heard:
    """Reads a pipe to its end beside the process; of a long output it keeps beginning and end."""

    def __init__(self, stream: IO[bytes] | None, limit: int) -> None:
        assert stream is not None
        self._stream = stream
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while block := os.read(self._stream.fileno(), _BLOCK):
            room = self._half - len(self._head)
            self._head += block[: max(room, 0)]
            self._tail += block[max(room, 0) :]
            if (over := len(self._tail) - self._half) > 0:
                self._left_out += over
                del self._tail[:over]

    def data(self) -> bytes:
        self._thread.join(_LINGER)
        if not self._thread.is_alive():
            self._stream.close()
        gap = f"\n[{self._left_out} bytes left out]\n".encode() if self._left_out else b""
        return bytes(self._head) + gap + bytes(self._tail)
