"""The installed command without its start, which takes longer than most of what it then does.

A process that has imported the package waits, and forks for each call. What is called is a script
that hands over all that a process is given (words, folder, environment, mask, streams), passes
signals on, and ends as the command ended; killed, it takes the command with it.

For tests of what a command does. How it is found, imported and started, and what ^C at a terminal
or a limit of the system does to it, is for the installed command.
"""

from __future__ import annotations

import atexit
import marshal
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from qrspi.world.git import user_git

# What these commands import takes longest, and is imported when the first one is called.
OF_A_COMMAND = {"mcp": "qrspi.mcp", "ui": "qrspi.web", "report": "qrspi.web"}
NOT_CALLED = ("qrspi.__main__", "qrspi.world.worker")

# Without `site` and other modules it starts in a fifth of the time.
SCRIPT = """#!{python} -IS
import _signal, _socket, marshal, posix, sys

def passed_on(number, frame):
    posix.kill(child, number)

def is_open(number):
    try:
        posix.fstat(number)
    except OSError:
        return False
    return True

mask = posix.umask(0)
posix.umask(mask)
streams = [number for number in (0, 1, 2) if is_open(number)]
given = marshal.dumps((sys.argv, posix.getcwdb(), posix.environ, mask, streams))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
rights = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
server.sendmsg(
    [len(given).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)]
)
server.sendall(given)
child = int.from_bytes(server.recv(4), "big")
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT):
    _signal.signal(number, passed_on)
status = int.from_bytes(server.recv(4), "big")
if posix.WIFSIGNALED(status):
    number = posix.WTERMSIG(status)
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
    posix.kill(posix.getpid(), number)
posix._exit(posix.WEXITSTATUS(status))
"""


@cache
def qrspi() -> Path:
    """The script to call in place of the installed command; one server for all that this process
    tests, which ends with it."""
    folder = Path(tempfile.mkdtemp(prefix="qrspi-forked-"))
    script, address = folder / "qrspi", folder / "address"
    script.write_text(SCRIPT.format(python=sys.executable, address=str(address)))
    script.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_command", address],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert server.stdout and server.stdout.readline() == b"ready\n"
    atexit.register(_close, server, folder)
    return script


def _close(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.kill()
    server.communicate()
    shutil.rmtree(folder, ignore_errors=True)


class Server:
    """It has no threads, and calls nothing of what it imports: its children begin as it did."""

    def __init__(self, address: str) -> None:
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(address)
        self._door.listen(128)
        self._callers: dict[int, socket.socket] = {}
        ended, self._ends = socket.socketpair()
        for end in (ended, self._ends):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._ends.fileno(), warn_on_full_buffer=False)
        self._waits = selectors.DefaultSelector()
        for file, answer in (
            (self._door, self._begin),
            (ended, self._tell),
            (sys.stdin, self._leave),
        ):
            self._waits.register(file, selectors.EVENT_READ, answer)

    def run(self) -> NoReturn:
        while True:
            for key, _ in self._waits.select():
                key.data(key.fileobj)

    def _begin(self, door: socket.socket) -> None:
        caller = door.accept()[0]
        size, streams, _, _ = socket.recv_fds(caller, 4, 3)
        given = marshal.loads(caller.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        for word in given[0][1:2]:
            _import_all(OF_A_COMMAND.get(word, "qrspi.cli"))
        child = os.fork()
        if not child:
            _become(streams, *given)
        for stream in streams:
            os.close(stream)
        self._callers[child] = caller
        self._waits.register(caller, selectors.EVENT_READ, self._gone)
        caller.send(child.to_bytes(4, "big"))

    def _gone(self, caller: socket.socket) -> None:
        """Callers say no more: theirs was killed."""
        self._waits.unregister(caller)
        for child, one in self._callers.items():
            if one is caller:
                os.kill(child, signal.SIGKILL)

    def _tell(self, ended: socket.socket) -> None:
        ended.recv(4096)
        while self._callers:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            with self._callers.pop(child) as caller:
                if caller in {key.fileobj for key in self._waits.get_map().values()}:
                    self._waits.unregister(caller)
                    caller.send(status.to_bytes(4, "big"))

    def _leave(self, _: object) -> NoReturn:
        for child in self._callers:
            os.kill(child, signal.SIGKILL)
        os._exit(0)


def _become(
    streams: list[int],
    words: list[str],
    folder: bytes,
    environment: dict[bytes, bytes],
    mask: int,
    numbers: list[int],
) -> NoReturn:
    """The command; on every way out this process ends here."""
    status = 70
    try:
        _take_over(streams, numbers)
        os.chdir(folder)
        os.umask(mask)
        os.environ.clear()
        os.environb.update(environment)
        sys.argv = words
        sys.argv[0] = str(Path(sys.executable).with_name("qrspi"))
        status = _status()
    finally:
        os._exit(status)


def _take_over(streams: list[int], numbers: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, number in zip(streams, numbers, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    for number in {0, 1, 2}.difference(numbers):
        os.close(number)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, _text(number, mode) if number in numbers else None)
        setattr(sys, f"__{name}__", getattr(sys, name))


def _text(number: int, mode: str) -> Any:
    errors = "backslashreplace" if number == 2 else "strict"
    line_by_line = -1 if number == 1 and not os.isatty(1) else 1
    return open(number, mode, line_by_line, "utf-8", errors, closefd=False)


def _status() -> int:
    """As an interpreter ends: threads, what was to be done at the end, and what is not yet said."""
    import threading

    from qrspi.cli import main

    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            status = 120
    return status


@cache
def _import_all(package: str) -> None:
    import gc
    import pkgutil

    others = {*OF_A_COMMAND.values(), *NOT_CALLED} - {package}
    for module in pkgutil.walk_packages(
        __import__(package, fromlist=["_"]).__path__, f"{package}."
    ):
        if not module.name.startswith(tuple(others)):
            __import__(module.name)
    gc.collect()
    gc.freeze()  # a child writes to no page only to look for garbage


if __name__ == "__main__":
    _import_all("qrspi")
    user_git._library()  # imported with the first change, which it takes five times as long as
    server = Server(sys.argv[1])
    print("ready", flush=True)
    server.run()
