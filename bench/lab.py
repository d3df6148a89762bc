"""What a benchmark is given, and what it gives back."""

from __future__ import annotations

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
        self, what: str, command: Sequence[str | Path], cwd: Path, goal: float | None = None
    ) -> Measure:
        """A command from its start to its end, against the bare interpreter."""
        taken = seconds(command, cwd, 15)
        note = f"{taken * 1000:.0f} ms"
        return Measure(what, taken / self.interpreter, "× python -c pass", goal, note)


Benchmark = Callable[[Lab], Iterator[Measure]]
QRSPI = Path(sys.executable).with_name("qrspi")


def seconds(command: Sequence[str | Path], cwd: Path, times: int) -> float:
    """The median, after one run that warms the disk cache. A failing command is an error."""
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return statistics.median(_once(command, cwd) for _ in range(times))


def _once(command: Sequence[str | Path], cwd: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def bare_interpreter(cwd: Path) -> float:
    return seconds([sys.executable, "-c", "pass"], cwd, 25)
