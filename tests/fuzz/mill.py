"""Tries many cases of one kind, in two processes, and says how they ended."""

from __future__ import annotations

import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from tests.fuzz.case import Fuzz, chance
from tests.fuzz.kinds import KINDS

WORKERS = 2
BATCH = 2_000
MOST_SECONDS = 1.0  # of the processor, for one case
MOST_FINDS = 20  # of one kind: after these it is known to be broken
WORD = 50  # batches after which it says how far it is


class Find(NamedTuple):
    name: str
    number: int
    what: str
    case: str

    def __str__(self) -> str:
        return f"case {self.number} of {self.name}: {self.what}\n  {self.case}"


class Tally(NamedTuple):
    name: str
    cases: int
    answers: Counter[str]
    longest: float  # seconds of the processor
    seconds: float
    finds: tuple[Find, ...]

    def __str__(self) -> str:
        answers = ", ".join(f"{what} {count:,}" for what, count in self.answers.most_common())
        ended = f"{len(self.finds)} FOUND" if self.finds else "nothing found"
        told = (
            f"{self.cases:,} {self.name} in {self.seconds:.0f} s, the longest "
            f"{self.longest * 1000:.0f} ms: {ended}\n  {answers}"
        )
        return "\n".join([told, *map(str, self.finds)])


def grind(name: str, seed: int, count: int, told: Callable[[str], object]) -> Tally:
    began = time.monotonic()
    total = Tally(name, 0, Counter(), 0.0, 0.0, ())
    for at, part in enumerate(_parts(name, seed, count), 1):
        total = total._replace(
            cases=total.cases + part.cases,
            answers=total.answers + part.answers,
            longest=max(total.longest, part.longest),
            finds=(*total.finds, *part.finds),
            seconds=time.monotonic() - began,
        )
        if at % WORD == 0:
            told(f"  {total.cases:,} after {total.seconds:.0f} s, {len(total.finds)} found")
        if len(total.finds) >= MOST_FINDS:
            break
    return total


def _parts(name: str, seed: int, count: int) -> Iterator[Tally]:
    batches = [(start, min(start + BATCH, count)) for start in range(0, count, BATCH)]
    if len(batches) == 1:
        yield batch(name, seed, *batches[0])
        return
    with ProcessPoolExecutor(WORKERS, get_context("spawn"), _be_nice) as pool:
        # A few ahead, so that a kind that is broken ends soon.
        for first in range(0, len(batches), 4 * WORKERS):
            few = batches[first : first + 4 * WORKERS]
            yield from pool.map(batch, *zip(*((name, seed, *one) for one in few), strict=True))


def _be_nice() -> None:
    os.nice(10)


def batch(name: str, seed: int, start: int, stop: int) -> Tally:
    fuzz = KINDS[name]
    answers: Counter[str] = Counter()
    finds: list[Find] = []
    longest = 0.0
    for number in range(start, stop):
        began = time.process_time()
        answer, find = attempt(fuzz, seed, number)
        taken = time.process_time() - began
        longest = max(longest, taken)
        if find is None and taken > MOST_SECONDS:
            find = Find(name, number, f"took {taken:.1f} s", "")
        answers[answer] += 1
        finds += [find] if find else []
        if len(finds) >= MOST_FINDS:
            break
    return Tally(name, sum(answers.values()), answers, longest, 0.0, tuple(finds))


def attempt(fuzz: Fuzz, seed: int, number: int) -> tuple[str, Find | None]:
    case = fuzz.make(chance(seed, fuzz.name, number))
    try:
        return fuzz.check(case), None
    except Exception as error:  # whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} at {where.name}:{where.lineno}: {str(error)[:500]}"
        return "FOUND", Find(fuzz.name, number, what, repr(case)[:1500])
