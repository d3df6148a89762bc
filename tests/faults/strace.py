"""Ends a real process at every system call with which it changes the disk, or lets the call fail.

Between two such calls the disk stays as it is, so these are all the moments at which a kill can
leave something different behind.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

import pytest

Process = subprocess.Popen[str]

# Syncing is not among them: a kill loses nothing that the kernel was given. See `trace`.
CHANGING = tuple(
    """write pwrite64 writev ftruncate fallocate mkdir mkdirat rmdir rename renameat renameat2
    link linkat symlink symlinkat unlink unlinkat""".split()
)


class Call(NamedTuple):
    process: str
    name: str
    rest: str  # arguments and result, as strace prints them


class Point(NamedTuple):
    """A moment, and how the process ended that met its end or its error there."""

    syscall: str
    number: int
    code: int  # -9 when it was killed
    stdout: str
    stderr: str
    hit: str = ""  # the calls that were made to fail, as strace prints them


# What a forked Python tells its parent about a program that cannot be started, in three writes.
# A pipe is never full in the way of a disk, and the parent cannot make sense of half of it.
_EXEC_REPORT = re.compile(r'write\(\d+, "(OSError:|[0-9a-f]{1,3}|:)", \d\) .*INJECTED')


def _missing() -> str:
    """Why there can be no tracing here, or nothing."""
    if not shutil.which("strace"):
        return "strace is not installed (apt-get install strace)"
    tried = subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr!r}"


needs_strace = pytest.mark.skipif(bool(_missing()), reason=_missing())


def python(*argv: str) -> list[str]:
    return [sys.executable, *argv]


def kill_points(
    argv: Sequence[str],
    fresh: Callable[[], object],
    syscalls: Iterable[str] = CHANGING,
    cwd: Path | None = None,
) -> Iterator[Point]:
    """Kill the command once at each changing call it makes; `fresh` restores the disk before."""
    yield from _points(argv, fresh, syscalls, "signal=KILL", cwd)


def error_points(
    argv: Sequence[str],
    fresh: Callable[[], object],
    error: str,
    syscalls: Iterable[str] = CHANGING,
    cwd: Path | None = None,
) -> Iterator[Point]:
    """Let each changing call of the command fail once with `error`, such as ENOSPC."""
    for point in _points(argv, fresh, syscalls, f"error={error}", cwd):
        if not _EXEC_REPORT.search(point.hit):
            yield point


def always(argv: Sequence[str], syscall: str, error: str, cwd: Path | None = None) -> Point:
    """Run the command where a call always fails, as on a file system that does not have it."""
    done = _strace(argv, f"inject={syscall}:error={error}", cwd)
    return Point(syscall, 0, done.returncode, done.stdout, done.stderr)


@contextmanager
def stopped_at(argv: Sequence[str], syscall: str, ready: Callable[[], int]) -> Iterator[Process]:
    """The command, which stops itself at a call; `ready` gives its process once it is there.
    It goes on when the block ends."""
    harm = f"inject={syscall}:signal=STOP:when=1"
    started = subprocess.Popen(
        _strace_command(argv, harm, os.devnull), env=_environment(), stderr=PIPE, text=True
    )
    while not (process := ready()):
        assert started.poll() is None
    try:
        yield started
    finally:
        # Again and again: before the stop has reached the process, this would change nothing.
        while started.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def trace(argv: Sequence[str], syscalls: Iterable[str], cwd: Path | None = None) -> list[Call]:
    """The calls of an undisturbed command, in order."""
    with tempfile.NamedTemporaryFile("r") as output:
        # "?" lets strace pass over a name that this machine's kernel does not have.
        traced = ",".join(f"?{name}" for name in syscalls)
        done = _strace(argv, f"trace={traced}", cwd, output.name)
        assert done.returncode == 0, done.stderr
        found = re.findall(r"^(\d+) +(\w+)\((.*)", output.read(), re.MULTILINE)
    return [Call(*call) for call in found]


def occurrences(calls: Iterable[Call]) -> Counter[str]:
    """How often each call is made; by several processes, by the one that makes it most."""
    most: Counter[str] = Counter()
    for (_, name), count in Counter((call.process, call.name) for call in calls).items():
        most[name] = max(most[name], count)
    return most


def _points(
    argv: Sequence[str],
    fresh: Callable[[], object],
    syscalls: Iterable[str],
    harm: str,
    cwd: Path | None,
) -> Iterator[Point]:
    fresh()
    subprocess.run(argv, cwd=cwd, env=_environment(writes_cache=True), check=True)
    fresh()
    for syscall, count in sorted(occurrences(trace(argv, syscalls, cwd)).items()):
        for number in range(1, count + 1):
            fresh()
            with tempfile.NamedTemporaryFile("r") as output:
                done = _strace(argv, f"inject={syscall}:{harm}:when={number}", cwd, output.name)
                hit = "".join(line for line in output if "INJECTED" in line)
            yield Point(syscall, number, done.returncode, done.stdout, done.stderr, hit)


def _strace(
    argv: Sequence[str], expression: str, cwd: Path | None, output: str = os.devnull
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _strace_command(argv, expression, output),
        cwd=cwd,
        env=_environment(),
        capture_output=True,
        text=True,
    )


def _strace_command(argv: Sequence[str], expression: str, output: str) -> list[str]:
    # Not --seccomp-bpf, which is faster: strace 6.1 then injects nothing.
    traced = expression.partition(":")[0].replace("inject=", "trace=")
    return ["strace", "-f", "-qq", "-o", output, "-e", traced, "-e", expression, *argv]


def _environment(writes_cache: bool = False) -> Mapping[str, str]:
    """Compiled modules are written once and before, so that their files are no point to kill at."""
    cache = Path(tempfile.gettempdir(), f"qrspi-faults-{os.getuid()}")
    no_cache = "" if writes_cache else "1"
    return {
        **os.environ,
        "PYTHONPYCACHEPREFIX": str(cache),
        "PYTHONDONTWRITEBYTECODE": no_cache,
    }
