"""A tiny process that outlives us by a moment: when we are killed, it ends our children.

Nothing of ours runs after a kill -9, and a signal set to follow the parent's death
(PR_SET_PDEATHSIG) would reach an agent but none of the programs the agent has started. The keeper
holds the other end of a pipe; when that closes without a word, it ends every process group it was
told of, and those of whoever carries our mark in the environment: a program that was started in
the moment we were killed, or that went off into a session of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

MARK = "QRSPI_DISPATCH"

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


class Keeper:
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
        # Somebody who kills the keeper wants what it keeps to live on.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def dismiss(self, *, nobody_left: bool = True) -> None:
        """It goes; whoever is on its list by then goes with it, unless nobody is left."""
        if nobody_left:
            self.tell("bye")
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
