"""A project to show the page with: the demo's run, left while its tasks are in work, and copies of
it as it stood at earlier moments, each as a run of its own. Needs nothing but the package.

    python tools/showcase.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from qrspi.core.records import audit_trail
from qrspi.demo import performance, story
from qrspi.demo.narration import Beat
from qrspi.world.git import scratch_repository
from qrspi.world.machine import clock

QRSPI = Path(sys.executable).with_name("qrspi")
RUNS = Path("docs") / "qrspi"
LOOKED_AT = "2026-03-09T14:05:00Z"


class Moment(NamedTuple):
    """When the story comes to this, the run is copied; the copy is called `name`."""

    name: str
    time: str
    who: str
    step: str
    says: str


MOMENTS = (
    Moment("2026-03-08-loyalty-points", "2026-03-08T16:20:00Z", "agent", "goals", "writes goals"),
    Moment("2026-03-08-returns-by-mail", "2026-03-08T17:02:00Z", "engine", "goals", "leaves a"),
    Moment("2026-03-09-sign-in-links", "2026-03-09T09:41:00Z", "person", "goals", "decides to app"),
    Moment("2026-03-06-gift-cards", "2026-03-06T11:12:00Z", "person", "goals", "reads goals.md"),
    Moment("2026-02-16-address-book", "2026-02-27T11:12:00Z", "agent", "research", "writes resea"),
    Moment("2026-03-07-stock-alerts", "2026-03-09T10:30:00Z", "agent", "design", "scores scope"),
    Moment("2026-03-05-price-history", "2026-03-09T11:48:00Z", "engine", "design", "keeps quality"),
    Moment("2026-03-04-invoice-numbers", "2026-03-09T13:51:00Z", "person", "design", "reads desig"),
)
IN_WORK = Moment("", "2026-03-09T13:20:00Z", "engine", "task-01", "task-01: opens round 2")

TASKS = "2026-03-02-order-export"  # the run that the story is about
CLOSED, PAUSED, WAITING = (MOMENTS[at].name for at in (4, 2, 7))
SPENT = (
    ("goals", 1, "reviewer-quality", "claude-opus-4.7", 9100, 1250, 0.31, 48),
    ("goals", 1, "reviewer-scope", "claude-sonnet-4.6", 8800, 900, 0.09, 31),
    ("design", 1, "reviewer-quality", "claude-opus-4.7", 15400, 2100, 0.52, 66),
    ("design", 1, "verifier", "claude-sonnet-4.6", 21000, 600, 0.11, 40),
    ("design", 2, "reviewer-quality", "claude-opus-4.7", 16100, 1400, 0.48, 59),
    ("plan", 1, "reviewer-security", "claude-opus-4.7", 24800, 1900, 0.74, 81),
)


def build() -> Path:
    """The project, in a temporary folder that is the caller's."""
    with _clock(), TemporaryDirectory() as aside:
        with scratch_repository.repository(story.project(), keep=True) as folder:
            project = Path(folder)
            _play(project, Path(aside))
        for run in Path(aside).iterdir():
            shutil.copytree(run, project / RUNS / run.name, symlinks=True)
    _say_more(project)
    _date(project)
    return project


@contextmanager
def _clock() -> Iterator[None]:
    """The engine's clock is the story's for a while."""
    before = os.environ.get(clock.VARIABLE)
    os.environ[clock.VARIABLE] = "2026-03-02T09:30:00Z"
    try:
        yield
    finally:
        del os.environ[clock.VARIABLE]
        os.environ |= {clock.VARIABLE: before} if before else {}


def _play(project: Path, aside: Path) -> None:
    waiting = [*MOMENTS, IN_WORK]
    for beat in performance.play(story.load("full"), str(project)):
        if beat.step:  # the run is there, and has its date
            os.environ[clock.VARIABLE] = waiting[0].time
        if not _is_at(waiting[0], beat):
            continue
        moment = waiting.pop(0)
        if not waiting:
            return
        shutil.copytree(project / RUNS / TASKS, aside / moment.name, symlinks=True)
    raise RuntimeError(f"the story never came to {waiting[0]}")


def _is_at(moment: Moment, beat: Beat) -> bool:
    return (beat.who, beat.step) == (moment.who, moment.step) and beat.says.startswith(moment.says)


def _say_more(project: Path) -> None:
    """What the story has none of: money, words about lines, a run that was set aside."""
    for step, number, role, model, tokens_in, tokens_out, usd, seconds in SPENT:
        words = ("--step", step, "--round", number, "--role", role, "--model", model, "--usd", usd)
        counts = ("--input-tokens", tokens_in, "--output-tokens", tokens_out, "--seconds", seconds)
        _run(project, "spend", "add", TASKS, *words, *counts)
    said = "Does the owner's spreadsheet want semicolons?"
    _run(project, "comment", "add", WAITING, "design.md:L12-L14", "-m", said)
    _run(project, "comment", "add", WAITING, "design.md:L20", "-m", "Good: nobody quotes by hand.")
    _run(project, "comment", "resolve", WAITING, "c2")
    _run(project, "close", CLOSED, "--reason", "After the spring sale.")


def _date(project: Path) -> None:
    """The board goes by the clock of the files, which is not the story's."""
    for trail in (project / RUNS).glob(f"*/{audit_trail.FILE}"):
        last = json.loads(trail.read_text().splitlines()[-1])["time"]
        moment = datetime.fromisoformat(last).timestamp()
        os.utime(trail, (moment, moment))


def _run(project: Path, *words: object) -> None:
    command = [str(QRSPI), *map(str, words), "--json"]
    env = os.environ | {clock.VARIABLE: LOOKED_AT.replace("14:05", "13:58")}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    print(build())
