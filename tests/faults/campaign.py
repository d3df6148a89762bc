"""Kills at random moments, by the hundred or by the ten thousand.

    python -m tests.faults.campaign

QRSPI_KILLS says how many (300), QRSPI_SEED which (a new one each time; it is printed). Quick runs
are driven from their goals to their plan: the engine's and people's commands are real processes
that are killed while they work, alone or with the git they started; agents' files are written in
between. After each kill everything must hold that a reader relies on, and now and then the
command is let through and must finish.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from qrspi.core.derivation.derive import derive
from qrspi.core.model import RunState
from qrspi.core.pipeline import STEP
from qrspi.core.yaml import frontmatter
from qrspi.world.files.run_tree import DiskTree
from tests import quick, runs, scenes
from tests.faults import world

STEPS = ("goals", "questions", "research", "plan")
TRIES = 6  # kills in one place before the command is let through
MOST_ROUNDS = 4
WORD = 500  # kills after which it says how far it is
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


class Tally(NamedTuple):
    seed: int
    kills: int  # that met a living process
    late: int  # that came after its end
    stories: int
    finished: int  # commands that were let through
    during: Counter[str]

    def __str__(self) -> str:
        during = ", ".join(f"{what} {count}" for what, count in sorted(self.during.items()))
        return (
            f"seed {self.seed}: {self.kills} kills ({self.late} came too late), "
            f"{self.finished} commands let through, {self.stories} runs begun\n"
            f"killed during: {during}"
        )


class Campaign:
    def __init__(self, folder: Path, seed: int, told: Callable[[str], object]) -> None:
        self.folder = folder
        self._told = told
        self.chance = random.Random(seed)
        self.tally = Tally(seed, 0, 0, 0, 0, Counter())
        self._taken: dict[str, float] = {}  # seconds a command needs

    def go_on(self, kills: int) -> None:
        while self.tally.kills < kills:
            before = self.tally.kills // WORD
            Story(self).tell(kills)
            self.count(stories=1)
            if self.tally.kills // WORD > before:
                self._told(f"{self.tally.kills} kills, {self.tally.stories} runs")

    def count(self, **more: int) -> None:
        counted = {name: getattr(self.tally, name) + number for name, number in more.items()}
        self.tally = self.tally._replace(**counted)

    def strike(self, words: tuple[str, ...], project: Path) -> bool:
        """Start a command and kill it at some moment; whether it was still alive."""
        kind = words[0]
        pid = start(words, project)
        time.sleep(self.chance.uniform(0, 1.1 * self._taken.get(kind, 0.05)))
        struck = self._kill(pid)
        self.count(kills=struck, late=not struck)
        if struck:
            self.tally.during[kind] += 1
        return struck

    def _kill(self, pid: int) -> bool:
        whole_group = self.chance.random() < 0.5
        with suppress(ProcessLookupError):
            (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
        return ended(pid) == -signal.SIGKILL

    def let_through(self, words: tuple[str, ...], project: Path) -> int:
        began = time.monotonic()
        status = ended(start(words, project))
        self._taken[words[0]] = time.monotonic() - began
        self.count(finished=1)
        return status


def start(words: tuple[str, ...], project: Path) -> int:
    """A command as a process of its own, at the head of its own group. It is forked from here,
    where everything is imported already, so a thousand of them take a minute."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    told = os.open(project.with_name("told"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, target in enumerate((nowhere, nowhere, told)):
        os.dup2(target, stream)
    from qrspi.cli import main

    try:
        main(["--root", str(project), "-v", *words])
    except SystemExit as stop:
        os._exit(stop.code if isinstance(stop.code, int) else 1)
    os._exit(1)


def ended(pid: int) -> int:
    """How it ended, once everything it started has ended too."""
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-pid, 0)
    return status


class Story:
    """One run, from its goals to its plan."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._chance = campaign.chance
        self.project = campaign.folder / "project"
        shutil.rmtree(self.project, ignore_errors=True)
        settled = {"review_depth": "quick", "review_mode": "single"}
        self.run = quick.make(self.project, "goals", git=True, **settled)
        self._texts = {"goals.md": self._body("goals.md")}  # what people and agents wrote

    def tell(self, kills: int) -> None:
        while self._campaign.tally.kills < kills:
            state = derive(DiskTree(self.run))
            if state.current_step not in STEPS or state.next.round > MOST_ROUNDS:
                return
            if state.next.who == "agent" or state.next.action == "author":
                self._write(state)
            else:
                self._try(self._command(state))

    def _command(self, state: RunState) -> tuple[str, ...]:
        answer, run = state.next, state.run
        match answer.who, answer.kind:
            case "engine", _:
                return ("next", run)
            case _, "approve":
                if self._chance.random() < 0.15:
                    return ("reject", run, answer.step, "-m", "Say it in fewer words.")
                return ("approve", run, answer.step, "--yes", "--unreviewed")
            case _, "pause":
                choice = self._chance.choice(("apply", "skip"))
                return ("decide", run, answer.missing[0], choice)
            case _, "cap" | "loop" | "loop-again":
                return ("resolve", run, "present")
            case _:
                raise AssertionError(f"no answer to {answer}")

    def _try(self, words: tuple[str, ...]) -> None:
        """Kill it a few times, each time checking what is left, then let it finish."""
        for _ in range(self._chance.randrange(1, TRIES)):
            self._campaign.strike(words, self.project)
            self._holds(words)
            unlock(self.project)
        status = self._campaign.let_through(words, self.project)
        # 3: a person's command is refused when the one that was killed has done it all.
        if status not in ((0,) if words[0] == "next" else (0, 3)):
            told = self.project.with_name("told").read_text()
            raise AssertionError(f"{' '.join(words)} exited {status}: {told}")
        self._holds(words)
        left = world.leftovers(self.project), world.staged(self.project)
        assert left == ([], ""), (words, left)

    def _holds(self, words: tuple[str, ...]) -> None:
        try:
            world.answers(self.run)
            world.approved_only_on_record(self.run)
            world.nothing_twice(self.run, self.project)
            for name, body in self._texts.items():
                assert self._body(name) == body, name
        except AssertionError as error:
            raise AssertionError(f"after {' '.join(words)} in {self.project}") from error

    def _body(self, name: str) -> bytes:
        return frontmatter.body((self.run / name).read_bytes())

    def _write(self, state: RunState) -> None:
        answer, step = state.next, state.next.step
        artifact = STEP[step].artifact
        match answer.action:
            case "author":
                self._author(step)
            case "review" if self._chance.random() < 0.6:
                quick.say_clean(self.run, step, answer.round)
            case "review":
                kind = "intent" if self._chance.random() < 0.3 else "correctness"
                quick.find(self.run, step, answer.round, kind=kind)
            case "apply-fixes":
                quick.fix(self.run, step, answer.round)
                self._texts[artifact] = self._body(artifact)
            case _:
                raise AssertionError(f"no agent for {answer}")

    def _author(self, step: str) -> None:
        artifact = STEP[step].artifact
        files = {artifact: runs.artifact(body=f"{quick.BODY}\n{self._chance.random()}\n")}
        files |= quick.TASKS if step == "plan" else {}
        for name, data in files.items():
            quick.put(self.run, name, data)
            self._texts[name] = self._body(name)
        scenes.git(self.project, "add", *(str(self.run / name) for name in files))
        scenes.git(self.project, "commit", "-q", "-m", f"draft {step}", "--", str(self.run))


def unlock(project: Path) -> None:
    """What a person does whose git was killed, and what git itself tells to do."""
    for lock in list((project / ".git").rglob("*.lock")):
        lock.unlink()


def adopt_orphans() -> None:
    """A git that outlives the command that started it becomes ours to wait for."""
    import ctypes

    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def run(folder: Path, kills: int, seed: int, told: Callable[[str], object]) -> Tally:
    adopt_orphans()
    scenes.advance(scenes.fixed(folder / "warm-up"))  # imports what the forked commands need
    campaign = Campaign(folder, seed, told)
    told(f"seed {seed}, {kills} kills to come")
    try:
        campaign.go_on(kills)
    finally:
        told(str(campaign.tally))
    return campaign.tally


def settings() -> None:
    """The same for everybody who runs it."""
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    for role in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{role}_NAME"] = "Ada Example"
        os.environ[f"GIT_{role}_EMAIL"] = "ada@example.org"


if __name__ == "__main__":
    settings()
    wanted = int(os.environ.get("QRSPI_KILLS", "300"))
    chosen = int(os.environ.get("QRSPI_SEED") or random.SystemRandom().randrange(10**6))
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        run(Path(scratch), wanted, chosen, partial(print, flush=True))
        print(f"{time.monotonic() - began:.0f} s; nothing was lost")
