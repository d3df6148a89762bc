"""What is killed, when, and how often."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

TRIES = 10  # kills of one command before it is let through


class Running(Protocol):
    def kill(self, whole_group: bool) -> bool:
        """Whether it had something left to do."""

    def finish(self) -> int:
        """As a command exits."""


class Deed(Protocol):
    """What can be begun again and again: a command, or an answer on the page."""

    @property
    def name(self) -> str: ...

    def begin(self) -> Running: ...

    def told(self) -> str: ...


class Tally(NamedTuple):
    seed: int
    kills: int  # that met somebody at work
    late: int  # that came after the end
    stories: int
    finished: int  # deeds that were let through
    parts: Counter[str]
    during: Counter[str]

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.kills} kills ({self.late} came too late), "
            f"{self.finished} let through, {self.stories} stories\n"
            f"killed in: {_listed(self.parts)}\nkilled during: {_listed(self.during)}"
        )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items()))


class Strikes:
    def __init__(self, folder: Path, seed: int, wanted: int) -> None:
        self.folder = folder
        self.wanted = wanted
        self.chance = random.Random(seed)
        self.tally = Tally(seed, 0, 0, 0, 0, Counter(), Counter())
        self._taken: dict[str, float] = {}  # seconds a deed needs

    @property
    def is_over(self) -> bool:
        return self.tally.kills >= self.wanted

    def stop(self) -> None:
        """After what is being tried now."""
        self.wanted = 0

    def count(self, **more: int) -> None:
        counted = {name: getattr(self.tally, name) + number for name, number in more.items()}
        self.tally = self.tally._replace(**counted)

    def try_often(self, part: str, deed: Deed, holds: Callable[[], object]) -> int:
        """Kill it a few times, each time looking at what is left; how it ends when it is let."""
        for _ in range(self.chance.randrange(1, TRIES)):
            if self._strike(deed):
                self.tally.parts[part] += 1
                self.tally.during[deed.name] += 1
            holds()
        running, began = deed.begin(), time.monotonic()
        status = running.finish()
        self._taken[deed.name] = time.monotonic() - began
        self.count(finished=1)
        holds()
        return status

    def _strike(self, deed: Deed) -> bool:
        """Begin it and kill it at some moment; whether it was still at it."""
        running = deed.begin()
        time.sleep(self.chance.uniform(0, self._taken.get(deed.name, 0.05)))
        struck = running.kill(whole_group=self.chance.random() < 0.5)
        self.count(kills=struck, late=not struck)
        return struck
