"""The audit trail of a long life: adding a line, and reading the last one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab import QRSPI, Lab, Measure, seconds, taken

from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import Line, Touched
from qrspi.world.files import json_log
from qrspi.world.runs.workspace import Workspace

LINES = 1_000_000
LINE = json_log.encode(
    audit_trail.render(
        Line(
            time="2026-05-17T09:30:00Z",
            actor="watch",
            event="assemble",
            step="goals",
            round=1,
            files=(Touched("reviews/goals/round-01-verified.md", "a" * 64, "b" * 64),),
            outcome="done",
        )
    )
)


def measure(lab: Lab) -> Iterator[Measure]:
    short, long = (_run(lab.scratch / name, lines) for name, lines in (("s", 10), ("l", LINES)))
    few, many = (_quickest_append(run) for run in (short, long))
    note = f"{many * 1e6:.0f} µs a line, synced"
    yield Measure("append, 1,000,000 lines against 10", many / few, "×", 2, note)
    last = seconds([QRSPI, "log", "-n", "1"], long, 15) * 1000
    ratio = f"{last / 1000 / lab.interpreter:.1f} × python -c pass"
    yield Measure("log -n 1 of 1,000,000 lines, cold", last, "ms", 100, ratio)
    page = seconds([QRSPI, "log", "--json", "-n", "1000"], long, 5) * 1000
    yield Measure("log --json -n 1000", page, "ms")


def _run(project: Path, lines: int) -> Path:
    run = project / "docs" / "qrspi" / "2026-01-01-sample-run"
    (run / ".qrspi").mkdir(parents=True)
    (run / "goals.md").write_text("---\nstatus: draft\n---\n")
    with (run / audit_trail.FILE).open("wb") as log:
        for _ in range(lines // 10):
            log.write(LINE * 10)
    return run


def _quickest_append(run: Path) -> float:
    """Not the median: what others do to the disk meanwhile is no property of the log."""
    with Workspace(run).locked() as space:
        return min(taken(lambda: space.append(audit_trail.FILE, LINE)) for _ in range(200))
