"""A command at a terminal: keys go in, the screen comes out."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
from pathlib import Path
from typing import Self

from tests.cli.conftest import COMMAND


class Terminal:
    """`qrspi` with a terminal of its own; used as a context, it leaves no process behind."""

    def __init__(
        self,
        *words: str | Path,
        columns: int = 80,
        rows: int = 24,
        stdin: int | None = None,
        **settings: str,
    ) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (rows, columns))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "CI")}
        self.process = subprocess.Popen(
            [COMMAND, *words],
            stdin=theirs if stdin is None else stdin,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm", **settings},
            start_new_session=True,
        )
        os.close(theirs)
        self._raw = b""
        self.screen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def until(self, text: str) -> str:
        """Reads until the text is on the screen."""
        while text not in self.screen:
            if not self._more():
                raise AssertionError(f"the command ended without {text!r}:\n{self.screen}")
        return self.screen

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """The exit status, with everything read that was left."""
        while self._more():
            pass
        return self.process.wait(30)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], 30)
        if not ready:
            raise AssertionError(f"the command says nothing more:\n{self.screen}")
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            return False
        # On a busy machine a read ends anywhere, also within a character or a line end.
        self._raw += data
        self.screen = self._raw.decode(errors="ignore").replace("\r\n", "\n")
        return bool(data)
