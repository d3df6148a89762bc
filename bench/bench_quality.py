"""A batch over the texts of many tasks, with nobody asked: time for each, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab import Lab, Measure, config, peak_megabytes, processor, taken

FEW, MANY = 1_000, 10_000

TASK = """\
---
status: draft
working_directory: .
---
# Task {number:02d}: Keep sign-in links of kind {number}

## Description

Links of kind {number} that members get by mail are kept for an hour, in memory.

## Acceptance Criteria

- `pytest tests/test_links.py` passes.
- A link of kind {number} that is an hour old is refused with status 410.

## Execution Plan

1. Write `links_{number}.py` with a dictionary from token to member.
2. Add `tests/test_links.py` with a test for each criterion.
3. Run `pytest` and mend whatever it reports until it passes.
"""

BATCH = """
import os
os.chdir({project!r})
from qrspi.cli.app import application
from qrspi.cli.session import Session

class Silent(Session):
    def write(self, text):
        pass

session = Silent()
session.json = True
application.main(["quality", "batch", "--mode", "cache-only"], standalone_mode=False, obj=session)
os.chdir({here!r})
"""


def measure(lab: Lab) -> Iterator[Measure]:
    few, many = (_project(lab.scratch / str(count), count) for count in (FEW, MANY))
    memory: dict[Path, float] = {}

    def batch(project: Path) -> None:
        code = BATCH.format(project=str(project), here=str(Path(__file__).parent))
        memory[project] = peak_megabytes(code)

    short = taken(lambda: batch(few), processor)
    long = taken(lambda: batch(many), processor)
    each = (long - short) / (MANY - FEW)
    note = f"{long:.1f} s, {each * 1e6:.0f} µs a task"
    yield Measure(f"quality batch, {MANY:,} tasks against {FEW:,}", long / short, "×", 12, note)
    grown = (memory[many] - memory[few]) / (MANY - FEW) * 1024
    yield Measure("memory of a batch, for each task", grown, "KiB", 8, f"{memory[many]:.0f} MiB")


def _project(project: Path, tasks: int) -> Path:
    run = project / "docs" / "qrspi" / "2026-01-01-sample-run"
    (run / "tasks").mkdir(parents=True)
    (run / "config.md").write_text(config())
    for number in range(1, tasks + 1):
        (run / "tasks" / f"task-{number:02d}.md").write_text(TASK.format(number=number))
    return project
