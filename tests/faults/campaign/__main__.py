from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from tests import scenes
from tests.faults.campaign import gates, imports
from tests.faults.campaign.cases import Cases
from tests.faults.campaign.deliveries import Deliveries
from tests.faults.campaign.page import Page
from tests.faults.campaign.processes import adopt_orphans, import_everything, settings
from tests.faults.campaign.rounds import Rounds
from tests.faults.campaign.strikes import Strikes

WORD = 500  # kills after which it says how far it is


class Story(Protocol):
    def tell(self) -> None: ...


STORIES: dict[str, Callable[[Strikes], Story]] = {
    "rounds": Rounds,
    "page": Page,
    "deliveries": Deliveries,
    "gates": partial(Cases, part="gates", makers=gates.makers()),
    "import": partial(Cases, part="import", makers=imports.makers()),
}


def go_on(strikes: Strikes, parts: list[str], told: Callable[[str], object]) -> None:
    """What was killed least comes next, so that each has its share."""
    said = 0
    while not strikes.is_over:
        part = min(parts, key=lambda name: (strikes.tally.parts[name], strikes.chance.random()))
        STORIES[part](strikes).tell()
        strikes.count(stories=1)
        if strikes.tally.kills // WORD > said:
            said = strikes.tally.kills // WORD
            told(f"{strikes.tally.kills} kills, {strikes.tally.stories} stories")


def run(
    folder: Path, kills: int, seed: int, parts: list[str], told: Callable[[str], object]
) -> None:
    adopt_orphans()
    import_everything()
    scenes.advance(scenes.fixed(folder / "warm-up"))  # what is made once, is made here
    strikes = Strikes(folder, seed, kills)
    signal.signal(signal.SIGTERM, lambda *_: strikes.stop())
    told(f"seed {seed}, {kills} kills to come")
    try:
        go_on(strikes, parts, told)
    finally:
        told(str(strikes.tally))


if __name__ == "__main__":
    settings()
    wanted = int(os.environ.get("QRSPI_KILLS", "300"))
    chosen = int(os.environ.get("QRSPI_SEED") or random.SystemRandom().randrange(10**6))
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        parts = os.environ.get("QRSPI_PARTS", " ".join(STORIES)).split()
        run(Path(scratch), wanted, chosen, parts, partial(print, flush=True))
        print(f"{time.monotonic() - began:.0f} s; nothing was lost")
