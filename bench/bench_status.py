"""Cold starts of `status`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from lab import QRSPI, Lab, Measure


def measure(lab: Lab) -> Iterator[Measure]:
    project = lab.scratch / "one-run"
    project.mkdir()
    new_run = [str(QRSPI), "--root", ".", "init", "first-light", "--pipeline", "quick"]
    subprocess.run(new_run, cwd=project, check=True, capture_output=True)
    yield lab.cold("status of one run, cold", [QRSPI, "status"], project, goal=5)
    yield lab.cold("status --json of one run, cold", [QRSPI, "status", "--json"], project, goal=5)
