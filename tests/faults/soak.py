"""A daemon that lives long, in a busy and unkind world.

    python -m tests.faults.soak

QRSPI_SOAK says for how many seconds (1800), QRSPI_SEED which (a new one each time; it is printed).
Twenty quick runs lie on a small disk. Agents answer, people approve, editors save by renaming,
whole folders are moved away and back, commits come in between; now and then the disk is full, the
daemon is frozen, or a command's clock is set back. Whenever the daemon is frozen, and in the end,
everything must hold that a reader relies on; its memory and descriptors must stay as they are.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from qrspi.core.derivation.derive import derive
from qrspi.core.model import RunState
from qrspi.core.yaml import frontmatter
from qrspi.world.files.run_tree import DiskTree
from tests import runs, scenes
from tests.daemons import COMMAND
from tests.faults import world
from tests.faults.campaign.processes import adopt_orphans, ended, settings, start
from tests.faults.campaign.rounds import MOST_ROUNDS, STEPS, Rounds

RUNS = 20
DISK = "768m"  # room for half an hour of commits; a filler takes the rest of it
FULL_ACTIONS = 6  # things that happen while the disk is full
SAMPLE = 2.0  # seconds between two looks at the daemon
QUIET = 120.0  # seconds the daemon may need in the end
MOST_MEMORY, MOST_DESCRIPTORS = 1.15, 4  # growth from the second quarter to the last
WORD = 60.0
BREATH = 0.02  # seconds between two looks at a run that the daemon is at: it needs the processor
EARLIER = "2020-02-02T02:02:02Z"
NOT_NOW = ("cannot lock ref", "index.lock", "HEAD.lock", "No space", "diskspace")  # as git says it
SETTLED = {"review_depth": "quick", "review_mode": "single"}


class Sample(NamedTuple):
    second: float
    kilobytes: int
    descriptors: int


class Tally(NamedTuple):
    seed: int
    seconds: float
    done: Counter[str]
    samples: list[Sample]

    def __str__(self) -> str:
        done = ", ".join(f"{what} {count}" for what, count in sorted(self.done.items()))
        few = self.samples[:: max(1, len(self.samples) // 10)]
        course = "; ".join(
            f"{one.second:.0f} s {one.kilobytes / 1024:.1f} MB {one.descriptors}" for one in few
        )
        total = sum(self.done.values())
        return (
            f"seed {self.seed}: {self.seconds:.0f} s, {total} things happened: {done}\n"
            f"memory and descriptors: {course}"
        )


class Actor(Rounds):
    """Everybody who works at one run but the daemon."""

    def __init__(self, project: Path, name: str, chance: random.Random) -> None:
        self._chance = chance
        self.project = project
        config = runs.config("quick", **SETTLED)
        self.run = runs.on_disk(project, {"config.md": config, "goals.md": runs.artifact()}, name)
        self._texts = {"goals.md": frontmatter.body(runs.artifact())}

    @property
    def is_over(self) -> bool:
        return self._is_behind(self.state())

    def _is_behind(self, state: RunState) -> bool:
        return state.current_step not in STEPS or state.next.round > MOST_ROUNDS

    def state(self) -> RunState:
        return derive(DiskTree(self.run))

    def act(self) -> str:
        """What is next, if it is not the engine's; what it was."""
        state = self.state()
        if self._is_behind(state):
            return "run was over"
        if state.next.who == "engine":
            time.sleep(BREATH)
            return "waited for the engine"
        if state.next.who == "agent" or state.next.action == "author":
            self._write(state)
            return f"agent: {state.next.action}"
        words = self._command(state)
        back = self._chance.random() < 0.2
        with _clock(EARLIER if back else ""):
            status = ended(start(words, self.project))
        told = self.project.with_name("told").read_text()
        assert "a bug in qrspi" not in told and "Traceback" not in told, (words, told)
        return f"person: {words[0]}{', clock set back' if back else ''}, {status}"

    def save(self) -> str:
        """As an editor does: a draft beside it, then renamed; the same text."""
        name = self._chance.choice(sorted(self._texts))
        scenes.save(self.run / name, (self.run / name).read_bytes())
        return "editor saved"

    def move_away_and_back(self) -> str:
        away = self.project / f"moved-{self.run.name}"
        self.run.rename(away)
        away.rename(self.run)
        return "folder renamed and back"

    def holds(self) -> None:
        world.answers(self.run)
        world.approved_only_on_record(self.run)
        world.nothing_twice(self.run, self.project)
        for name, body in self._texts.items():
            assert self._body(name) == body, (self.run, name)


@contextmanager
def _clock(when: str) -> Iterator[None]:
    """Commands that are started here are told this time."""
    if when:
        os.environ["QRSPI_NOW"] = when
    try:
        yield
    finally:
        os.environ.pop("QRSPI_NOW", None)


class Soak:
    def __init__(self, folder: Path, log: Path, seed: int, told: Callable[[str], object]) -> None:
        """`log` lies on another disk: a daemon that cannot say anything ends."""
        self.folder, self.project, self._log = folder, folder / "project", log
        self.chance = random.Random(seed)
        self.tally = Tally(seed, 0.0, Counter(), [])
        self._told = told
        self._names = 0
        self._filler = folder / "filler"
        self._begin()
        self.actors = [self._actor() for _ in range(RUNS)]
        self._commit("start", self.project / "docs")

    def _begin(self) -> None:
        self.project.mkdir()
        scenes.git(self.project, "init", "-q", "-b", "main")
        scenes.git(self.project, "config", "gc.auto", "0")

    def _actor(self) -> Actor:
        self._names += 1
        return Actor(self.project, f"2026-05-17-run-{self._names:04d}", self.chance)

    def _commit(self, message: str, *places: Path) -> None:
        """Only these: what the engine is to commit is left to it."""
        paths = [str(place) for place in places]
        scenes.git(self.project, "add", "--all", "--", *paths)
        scenes.git(self.project, "commit", "-q", "-m", message, "--", *paths)

    def live(self, seconds: float) -> None:
        log = self._log.open("wb")
        argv = [COMMAND, "--root", str(self.project), "watch", "--log-format", "json"]
        self.daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._until(lambda: b'"looked"' in self._log.read_bytes())
            began = said = sampled = time.monotonic()
            while (now := time.monotonic()) < began + seconds:
                self._something()
                self._lives()
                if now - sampled > SAMPLE:
                    sampled = now
                    self.tally.samples.append(self._sample(now - began))
                if now - said > WORD:
                    said = now
                    self._told(f"{now - began:.0f} s: {sum(self.tally.done.values())} things")
            self.tally = self.tally._replace(seconds=time.monotonic() - began)
            self._settle()
        finally:
            self.daemon.send_signal(signal.SIGCONT)
            self.daemon.terminate()
            self.daemon.wait(30)
            log.close()

    def _something(self) -> None:
        what = self.chance.random()
        actor = self.chance.choice(self.actors)
        if what < 0.01:
            self._fill_the_disk()
        elif what < 0.03:
            self._freeze()
        elif what < 0.10:
            self._do(actor.save)
        elif what < 0.12:
            self._do(actor.move_away_and_back)
        elif what < 0.14:
            self._do(self._commit_elsewhere)
        elif what < 0.30 and actor.is_over:
            self._do(partial(self._replace, actor))
        else:
            self._do(actor.act)

    def _do(self, work: Callable[[], str]) -> None:
        """What cannot be done now, since the disk is full or git is at work, is left."""
        try:
            self.tally.done[work()] += 1
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            self.tally.done["no room"] += 1
        except AssertionError as error:
            if not any(words in str(error) for words in NOT_NOW):
                raise
            self.tally.done["git was busy"] += 1

    def _commit_elsewhere(self) -> str:
        (self.project / "notes.txt").write_text(f"{self.chance.random()}\n")
        scenes.git(self.project, "add", "notes.txt")
        scenes.git(self.project, "commit", "-q", "-m", "notes", "--", "notes.txt")
        return "commit of something else"

    def _replace(self, actor: Actor) -> str:
        """A run that is done makes room for a new one."""
        self.actors.remove(actor)
        self.actors.append(self._actor())
        while actor.run.exists():  # the daemon may write into it meanwhile
            shutil.rmtree(actor.run, ignore_errors=True)
        self._commit("next", actor.run, self.actors[-1].run)
        return "run replaced"

    def _fill_the_disk(self) -> None:
        if not os.path.ismount(self.folder):
            return
        with suppress(OSError), self._filler.open("wb") as file:
            while True:
                file.write(b"\0" * 2**20)
                file.flush()
        for _ in range(FULL_ACTIONS):
            self._do(self.chance.choice(self.actors).save)
        self._filler.unlink()
        self.tally.done["disk full"] += 1

    def _freeze(self) -> None:
        """While it cannot move, what it was doing is as if it had been killed."""
        self.daemon.send_signal(signal.SIGSTOP)
        self._until(lambda: self._state_of_process() == "T")
        for actor in self.chance.sample(self.actors, 3):
            actor.holds()
            self._do(actor.save)
        self.daemon.send_signal(signal.SIGCONT)
        self.tally.done["daemon frozen"] += 1

    def _settle(self) -> None:
        """In the end the daemon has done whatever it can do, and everything holds."""
        for lock in (self.project / ".git").rglob("*.lock"):
            lock.unlink()
        for actor in self.actors:
            actor.save()
        self._until(lambda: all(one.state().next.who != "engine" for one in self.actors))
        for actor in self.actors:
            actor.holds()
        assert world.leftovers(self.project) == []

    def _lives(self) -> None:
        assert self.daemon.poll() is None, self._log.read_text()[-2000:]

    def _until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + QUIET
        while not is_so():
            self._lives()
            if time.monotonic() > end:
                left = [(one.run.name, one.state().next) for one in self.actors]
                late = [one for one in left if one[1].who == "engine"]
                raise AssertionError(f"the daemon did not do {late}")
            time.sleep(0.05)

    def _state_of_process(self) -> str:
        stat = Path(f"/proc/{self.daemon.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0]

    def _sample(self, second: float) -> Sample:
        place = Path(f"/proc/{self.daemon.pid}")
        memory = (place / "status").read_text().partition("VmRSS:")[2].split()[0]
        return Sample(second, int(memory), len(os.listdir(place / "fd")))


def is_flat(samples: list[Sample]) -> str:
    """Why it is not; '' when it is, or when there are too few to tell."""
    quarter = len(samples) // 4
    if quarter < 3:
        return ""
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    memory = [statistics.median(one.kilobytes for one in part) for part in (early, late)]
    if memory[1] > memory[0] * MOST_MEMORY:
        return f"memory grew from {memory[0]} to {memory[1]} KB"
    descriptors = [statistics.median(one.descriptors for one in part) for part in (early, late)]
    if descriptors[1] > descriptors[0] + MOST_DESCRIPTORS:
        return f"descriptors grew from {descriptors[0]} to {descriptors[1]}"
    return ""


@contextmanager
def small_disk(told: Callable[[str], object]) -> Iterator[Path]:
    """One that can be filled; any folder where nobody may mount one."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "disk")
        folder.mkdir()
        argv = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
        mounted = subprocess.run(argv, capture_output=True).returncode == 0
        if not mounted:
            told("no disk may be mounted here, so none is ever full")
        try:
            yield folder
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(folder)], check=True)


def run(seconds: float, seed: int, told: Callable[[str], object]) -> Tally:
    adopt_orphans()
    with small_disk(told) as folder, tempfile.TemporaryDirectory() as beside:
        scenes.advance(scenes.fixed(Path(beside) / "warm-up"))  # imports what commands need
        told(f"seed {seed}, {seconds:.0f} s to come")
        soak = Soak(folder, Path(beside) / "log", seed, told)
        try:
            soak.live(seconds)
        finally:
            told(str(soak.tally))
    grown = is_flat(soak.tally.samples)
    assert not grown, grown
    return soak.tally


if __name__ == "__main__":
    settings()
    wanted = float(os.environ.get("QRSPI_SOAK", "1800"))
    chosen = int(os.environ.get("QRSPI_SEED") or random.SystemRandom().randrange(10**6))
    run(wanted, chosen, partial(print, flush=True))
    print("memory and descriptors stayed, and nothing was lost")
    sys.exit(0)
