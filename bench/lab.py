"""What a benchmark is given, and what it gives back."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class Measure(NamedTuple):
    """One line of the table. `goal` is the most `value` may be; None is a figure without one."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.value <= self.goal


class Lab(NamedTuple):
    scratch: Path
    interpreter: float  # seconds of `python -c pass`, the yardstick of every cold start

    def cold(
        self,
        what: str,
        command: Sequence[str | Path],
        cwd: Path,
        goal: float | None = None,
        times: int = 15,
        **settings: str,
    ) -> Measure:
        """A command from its start to its end, against the bare interpreter. The two take turns,
        so that whatever else the machine does weighs on both."""
        env = _environment() | settings
        subprocess.run(command, cwd=cwd, check=True, capture_output=True, env=env)
        pairs = [(_once(BARE, cwd), _once(command, cwd, env)) for _ in range(times)]
        bare, taken = (statistics.median(column) for column in zip(*pairs, strict=True))
        return Measure(what, taken / bare, "× python -c pass", goal, f"{taken * 1000:.0f} ms")


Benchmark = Callable[[Lab], Iterator[Measure]]
QRSPI = Path(sys.executable).with_name("qrspi")
BARE = (sys.executable, "-c", "pass")


def seconds(command: Sequence[str | Path], cwd: Path, times: int) -> float:
    """The median, after one run that warms the disk cache. A failing command is an error."""
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, env=_environment())
    return statistics.median(_once(command, cwd) for _ in range(times))


def _once(command: Sequence[str | Path], cwd: Path, env: dict[str, str] | None = None) -> float:
    env = env or _environment()
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL, env=env)
    return time.perf_counter() - start


def bare_interpreter(cwd: Path) -> float:
    return seconds(BARE, cwd, 25)


def _environment() -> dict[str, str]:
    """As an installed command is run: with its compiled modules kept."""
    return {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
