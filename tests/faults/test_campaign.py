"""A few of the kills of `make faults`, with a seed that does not change."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("ENG-04", "CSC-06")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to whom wants them")
@pytest.mark.parametrize("part", ["rounds", "page", "gates", "import", "deliveries"])
def test_kills_at_random_moments_lose_nothing(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, which has no threads when it forks."""
    monkeypatch.setenv("QRSPI_KILLS", "5")
    monkeypatch.setenv("QRSPI_SEED", "4")
    monkeypatch.setenv("QRSPI_PARTS", part)
    argv = [sys.executable, "-m", "tests.faults.campaign"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = re.fullmatch(r"seed 4, 5 kills to come\nseed 4: (\d+) kills \((?s:.*)\n", done.stdout)
    assert told and int(told[1]) >= 5, done.stdout
    assert f"killed in: {part} {told[1]}\n" in done.stdout
