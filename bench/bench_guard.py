"""The guard over a round: how many files a second, against opening and reading them alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench_assembly import RUN, write_round
from lab import Lab, Measure, processor, quickest

COUNT = 1_000


def bare(directory: Path) -> int:
    """Every file once, with nothing but the system's calls."""
    total = 0
    folder = os.open(directory, os.O_RDONLY)
    try:
        for name in os.listdir(folder):
            file = os.open(name, os.O_RDONLY, dir_fd=folder)
            total += len(os.read(file, 256 * 1024))
            os.close(file)
    finally:
        os.close(folder)
    return total


def check(run: Path) -> None:
    from qrspi.core.config import reader
    from qrspi.core.findings import guard
    from qrspi.core.pipeline import subject
    from qrspi.world.files.run_tree import DiskTree

    tree = DiskTree(run)
    plan = subject("plan")
    assert plan is not None
    found = guard.read_round(tree, plan, 1, reader.read(tree.read("config.md")), None)
    assert len(found.findings) == COUNT, found.violations[:1]


def reorder(directory: Path) -> None:
    """The same findings with their fields in an order of the reviewers' own."""
    for file in directory.glob("*.finding-F*.md"):
        head, fields, body = file.read_text().split("---\n", 2)
        lines = sorted(fields.splitlines(keepends=True))
        file.write_text(f"{head}---\n{''.join(lines)}---\n{body}")


def measure(lab: Lab) -> Iterator[Measure]:
    run = lab.scratch / RUN
    directory = write_round(run, COUNT)
    yield line("guard over 2,000 files as told", run, directory)
    reorder(directory)
    yield line("guard over 2,000 files, fields in any order", run, directory)


def line(what: str, run: Path, directory: Path) -> Measure:
    ours, floor = quickest(9, partial(check, run), partial(bare, directory), clock=processor)
    note = f"{2 * COUNT / ours:,.0f} files a second, bare {2 * COUNT / floor:,.0f}"
    return Measure(what, ours / floor, "× reading alone", None, note)
