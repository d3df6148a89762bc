"""The commands of a day on a run that grows old: its rounds, their findings, trail, approvals.

Draws docs/growth.svg when it is told to (QRSPI_DRAW=1), and prints the rows of docs/speed.md.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import growth_plot
from bench_log import LINE
from bench_verify import write_round
from lab import QRSPI, Lab, Measure, config, git, processor, quickest

from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, audit_trail, step_text
from qrspi.core.records.approvals import Record
from qrspi.world.files.run_tree import DiskTree

ROUNDS, FINDINGS, LINES, APPROVALS = 200, 5_000, 1_000_000, 10_000
PARTS = (8, 4, 2, 1)  # the whole run is 1, half of it 2
RUN = "2026-01-01-sample-run"
TEXT = "---\nstatus: {}\n---\n\n# Text\n\n## What\n\nWords.\n"
DONE, CURRENT = ("goals", "questions"), "research"
ARTIFACT = {"goals": "goals.md", "questions": "questions.md", "research": "research/summary.md"}
COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status", RUN),
    "next": ("next", RUN, "--dry-run"),
    "show": ("show", RUN, "goals", "--round", "1"),
    "verify": ("verify", RUN),
    "log": ("log", RUN),
}
FLAT, LINEAR = 1.5, 9.6  # the whole against an eighth of it: the most that each may be
GOALS = {"status": FLAT, "next": FLAT, "show": LINEAR, "verify": LINEAR, "log": LINEAR}
PLOT = Path(__file__).resolve().parents[1] / "docs" / "growth.svg"


def measure(lab: Lab) -> Iterator[Measure]:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for part in PARTS:
        project = lab.scratch / str(part)
        make_run(project, part)
        works = [partial(_call, project, words) for words in COMMANDS.values()]
        for name, taken in zip(COMMANDS, quickest(2, *works, clock=processor), strict=True):
            times[name].append(taken)
    for name, each in times.items():
        note = " ".join(f"{one * 1000:.0f}" for one in each) + " ms"
        what = f"{name}: a whole old run against an eighth"
        yield Measure(what, each[-1] / each[0], "× the time", GOALS[name], note)
    if os.environ.get("QRSPI_DRAW"):
        PLOT.write_text(growth_plot.draw(times, [1 / part for part in PARTS]))


def _call(project: Path, words: tuple[str, ...]) -> None:
    """`verify` says with 3 that something is missing, which is as much work."""
    env = os.environ | {"QRSPI_CACHE": "off"}
    done = subprocess.run([QRSPI, *words], cwd=project, capture_output=True, env=env)
    if done.returncode not in (0, 3):
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout, done.stderr)


def make_run(project: Path, part: int) -> Path:
    """Two steps that were reviewed over and over, and a third whose first round is open."""
    run = project / "docs" / "qrspi" / RUN
    (run / "research").mkdir(parents=True)
    (run / "config.md").write_text(config())
    for step, path in ARTIFACT.items():
        (run / path).write_text(TEXT.format("approved" if step in DONE else "draft"))
    rounds = ROUNDS // part
    for number in range(1, rounds // len(DONE) + 1):
        for step in DONE:
            write_round(run, step, number, FINDINGS // ROUNDS)
    _decide(run, APPROVALS // part)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "start")
    _put_down(run, LINES // part)
    subprocess.run([QRSPI, "next", RUN], cwd=project, check=True, capture_output=True)
    return run


def _decide(run: Path, count: int) -> None:
    """Rejected and approved in turns, approved in the end."""
    tree, lines = DiskTree(run), []
    hashes = {step: step_text.body_hash(tree, subject_of(step)) for step in DONE}
    for number in range(count):
        step = DONE[number % len(DONE)]
        event = "approve" if number >= count - len(DONE) else "reject"
        when = f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}Z"
        record = Record(event, step, hashes[step], 1, "Ada <ada@example.org>", when, "cli")
        lines.append(approvals.render(record))
    (run / approvals.FILE).write_bytes(b"".join(lines))


def _put_down(run: Path, lines: int) -> None:
    (run / ".qrspi").mkdir(exist_ok=True)
    with (run / audit_trail.FILE).open("wb") as trail:
        for _ in range(lines // 100):
            trail.write(LINE * 100)
