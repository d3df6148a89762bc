"""The daemon: from a change to the action done, at rest, in a burst, and with many runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lab import QRSPI, Lab, Measure, config, finding, git, taken

CHANGES = 200
BURST = 100_000
RUNS = 1_000
IDLE_SECONDS = 31  # one sweep among them
SETTLING = 3  # seconds in which a daemon has done whatever a commit leads to

GOALS = "---\nstatus: draft\n---\n# Goals\n\n## Approach\n\nWords.\n"
# The engine would commit the goals of a run itself, and none would fail.
LEFT_TO_PEOPLE = config().removesuffix("---\n") + "commit: off\n---\n"
CLEAN = "---\nreviewer: scope-claude\nround: 1\nfindings: 0\n---\n"


class Daemon:
    """A daemon, and what it logs."""

    def __init__(self, project: Path, gits: Gits | None = None) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [QRSPI, "watch", "--log-format", "json"],
            cwd=project,
            stdout=subprocess.PIPE,
            env=os.environ | {"PATH": gits.path} if gits else None,
        )

    def heard(self, event: str) -> dict[str, Any]:
        assert self._process.stdout
        for line in self._process.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["event"] == event:
                return found
        raise subprocess.CalledProcessError(self._process.wait(), "qrspi watch")

    def cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Megabytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate()


class Gits:
    """Counts the processes of git that are started with its PATH."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        folder.mkdir()
        shim = folder / "git"
        shim.write_text(f'#!/bin/sh\necho >> {self._log}\nexec {shutil.which("git")} "$@"\n')
        shim.chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def since(self) -> int:
        """How many since this was last asked."""
        count = len(self._log.read_bytes()) if self._log.exists() else 0
        self._log.unlink(missing_ok=True)
        return count


@contextmanager
def watching(project: Path, gits: Gits | None = None) -> Iterator[Daemon]:
    daemon = Daemon(project, gits)
    try:
        daemon.heard("looked")
        yield daemon
    finally:
        daemon.end()


def measure(lab: Lab) -> Iterator[Measure]:
    project = lab.scratch / "one"
    scores = reviewed(project, "2026-01-01-first-run")
    with watching(project) as daemon:
        yield from latency(daemon, scores, lab.scratch / "beside")
        yield from rest(daemon, "one run")
        yield burst(daemon, project, scores)
    yield from many(lab.scratch / "many", Gits(lab.scratch / "gits"))


def new_run(project: Path, name: str, settings: str = config()) -> Path:
    run = project / "docs" / "qrspi" / name
    run.mkdir(parents=True)
    (run / "config.md").write_text(settings)
    (run / "goals.md").write_text(GOALS)
    return run


def reviewed(project: Path, name: str) -> Path:
    """A run in git with an assembled round; a new score makes it be assembled again."""
    run = new_run(project, name)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "start")
    subprocess.run([QRSPI, "next"], cwd=project, check=True, capture_output=True)
    round_ = run / "reviews" / "goals" / "round-01"
    (round_ / "quality-claude.finding-F01.md").write_text(
        finding("quality-claude", 1, "The second claim contradicts the first.")
    )
    (round_ / "scope-claude.clean.md").write_text(CLEAN)
    scores = round_ / "quality-claude.finding-F01.score.yml"
    scores.write_text("score: 85\nreason: Checked.\n")
    subprocess.run([QRSPI, "next"], cwd=project, check=True, capture_output=True)
    return scores


def change(scores: Path, number: int) -> float:
    """A verifier changes its mind; when it did."""
    draft = scores.with_name(f".{scores.name}.tmp")
    draft.write_text(f"score: 85\nreason: Checked for the {number}th time.\n")
    when = time.perf_counter()
    draft.rename(scores)
    return when


def synced_write(target: Path) -> None:
    """What any careful writer does once: write, sync, rename."""
    draft = target.with_suffix(".tmp")
    with draft.open("wb") as file:
        file.write(b"score: 85\nreason: Checked.\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(target)


def latency(daemon: Daemon, scores: Path, beside: Path) -> Iterator[Measure]:
    """Against one synced write on the same disk; the two take turns."""
    done, written = [], []
    for number in range(CHANGES):
        when = change(scores, number)
        daemon.heard("performed")
        done.append(time.perf_counter() - when)
        written.append(taken(partial(synced_write, beside)))
    done.sort()
    once = statistics.median(written)
    for name, at, goal in (("p50", CHANGES // 2, 8), ("p99", CHANGES * 99 // 100, 40)):
        note = f"{done[at] * 1000:.1f} ms over {CHANGES} changes, a write {once * 1000:.2f} ms"
        what = f"watch: change to action done, {name}"
        yield Measure(what, done[at] / once, "× a synced write", goal, note)


def rest(daemon: Daemon, what: str) -> Iterator[Measure]:
    before = daemon.cpu()
    time.sleep(IDLE_SECONDS)
    used = (daemon.cpu() - before) / IDLE_SECONDS * 100
    yield Measure(f"watch: CPU at rest, {what}", used, "%", 0.5)
    yield Measure(f"watch: memory at rest, {what}", daemon.memory(), "MB", 60)


WRITER = """
import os, sys
folder, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    if number % 1000 == 0:
        os.mkdir(f"{folder}/{number}")
    name = f"{folder}/{number - number % 1000}/{number}.md"
    fd = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x")
    os.close(fd)
"""


def burst(daemon: Daemon, project: Path, scores: Path) -> Measure:
    folder = scores.parents[3] / "notes"
    folder.mkdir()
    argv = [sys.executable, "-c", WRITER, str(folder), str(BURST)]
    began = time.perf_counter()
    subprocess.run(argv, check=True)
    when = change(scores, -1)
    daemon.heard("performed")
    note = f"after {when - began:.1f} s of writing them"
    return Measure(f"watch: burst of {BURST:,} files", time.perf_counter() - when, "s", 10, note)


def many(project: Path, gits: Gits) -> Iterator[Measure]:
    """Runs that cannot go on, since their goals are in no commit; then the same runs, committed
    and waiting for reviewers."""
    for number in range(RUNS):
        new_run(project, f"2026-01-01-run-{number}", LEFT_TO_PEOPLE)
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    with watching(project):
        pass  # it makes a folder of its own in each run
    yield from at_rest(project, "failed", gits)
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "start")
    with watching(project) as daemon:
        ready = time.perf_counter() - daemon.started
        yield Measure(f"watch: open {RUNS:,} rounds", ready, "s", note="at its start")
    yield from at_rest(project, "waiting", gits)


def at_rest(project: Path, kind: str, gits: Gits) -> Iterator[Measure]:
    what = f"{RUNS:,} {kind}"
    gits.since()
    with watching(project, gits) as daemon:
        ready, used = time.perf_counter() - daemon.started, daemon.cpu()
        yield Measure(f"watch: start on {what}", ready, "s", 3, f"processor {used:.1f} s")
        yield Measure(f"watch: gits of that start, {kind}", gits.since(), "", 2)
        time.sleep(IDLE_SECONDS)  # by the end of it, whatever it wrote has settled
        yield from rest(daemon, what)
        yield from commit_elsewhere(daemon, project, kind, gits, used)


def commit_elsewhere(
    daemon: Daemon, project: Path, kind: str, gits: Gits, start: float
) -> Iterator[Measure]:
    """Nothing is tried again for it, so it costs a small part of the start."""
    gits.since()
    before = daemon.cpu()
    git(project, "commit", "-q", "--allow-empty", "-m", "elsewhere")
    time.sleep(SETTLING)
    used = daemon.cpu() - before
    note = f"{used * 1000:.0f} ms, {gits.since()} gits"
    yield Measure(f"watch: a commit elsewhere, {kind}", used / start, "× the start", 0.25, note)
