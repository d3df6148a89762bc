"""A short piece of `make soak`, with a seed that does not change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.soak import Sample, is_flat

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("ENG-04")
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to whom wants them")
def test_a_daemon_lives_on_in_an_unkind_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRSPI_SOAK", "20")
    monkeypatch.setenv("QRSPI_SEED", "4")
    argv = [sys.executable, "-m", "tests.faults.soak"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("memory and descriptors stayed, and nothing was lost\n")


@pytest.mark.parametrize(
    ("memory", "descriptors", "told"),
    [
        (0, 0, ""),
        (100, 0, "memory grew from 11450.0 to 13450.0 KB"),
        (0, 1, "descriptors grew from 14.5 to 34.5"),
    ],
    ids=["flat", "memory", "descriptors"],
)
def test_what_grows_is_told(memory: int, descriptors: int, told: str) -> None:
    """Forty looks; the second ten of them against the last ten."""
    samples = [Sample(at, 10_000 + memory * at, descriptors * at) for at in range(40)]
    assert is_flat(samples) == told
