"""What a benchmark is given, and what it gives back."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from qrspi.core.config.edit import initial

Clock = Callable[[], float]


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


def config() -> str:
    """A config.md of a full run as `qrspi init` writes it."""
    return initial("2026-01-01", "full", second_reviewer=False).decode()


def finding(tag: str, number: int, message: str, **fields: object) -> str:
    known = {
        "finding_id": f"R{fields.get('round', 1)}-F{number:02d}",
        "severity": "medium",
        "change_type": "correctness",
        "referenced_files": "[goals.md:L7]",
        "artifact": "goals",
        "round": 1,
        "reviewer": tag,
        **fields,
    }
    head = "".join(f"{name}: {value}\n" for name, value in known.items())
    return f"---\n{head}---\n{message}\n"


def git(root: Path, *args: str) -> None:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@x", *args]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def quickest(
    times: int, *works: Callable[[], object], clock: Clock = time.perf_counter
) -> list[float]:
    """The shortest time of each, taken in turns, so that other programs disturb all alike. A first
    run warms the disk cache."""
    for work in works:
        work()
    rounds = [[taken(work, clock) for work in works] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]


def taken(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def processor() -> float:
    """Seconds of this process and of those it started, which other programs cannot stretch."""
    spent = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def peak_megabytes(code: str) -> float:
    """The most memory of a process of its own that runs this code beside the benchmarks."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport lab; print(lab.peak())"],
        cwd=Path(__file__).parent,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def peak() -> float:
    """On Linux getrusage would count what the process was forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
