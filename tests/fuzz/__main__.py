"""Cases by the million, made from a seed.

    python -m tests.fuzz [NAME…]

QRSPI_SEED says which (a new one each time; it is printed), QRSPI_FUZZ_NAME how many of a kind.
Nothing may disagree, raise anything, or take a second. `python -m tests.fuzz NAME NUMBER` shows
one case of a seed and tries it alone.
"""

from __future__ import annotations

import os
import random
import sys
from functools import partial

from tests.fuzz import mill
from tests.fuzz.case import chance
from tests.fuzz.kinds import KINDS


def main(words: list[str]) -> int:
    seed = int(os.environ.get("QRSPI_SEED") or random.SystemRandom().randrange(10**6))
    if len(words) == 2 and words[1].isdigit():
        return alone(seed, words[0], int(words[1]))
    found = 0
    for name in words or list(KINDS):
        fuzz = KINDS[name]
        count = int(os.environ.get(fuzz.setting) or fuzz.count)
        print(f"seed {seed}: {count:,} {name}", flush=True)
        tally = mill.grind(name, seed, count, partial(print, flush=True))
        print(tally, flush=True)
        found += len(tally.finds)
    return int(bool(found))


def alone(seed: int, name: str, number: int) -> int:
    fuzz = KINDS[name]
    case = fuzz.make(chance(seed, name, number))
    print(repr(case))
    print(fuzz.check(case))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
