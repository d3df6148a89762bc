"""What the killed processes do at a gate: `qrspi next` without its words."""

from __future__ import annotations

import sys

from qrspi import engine
from qrspi.core.errors import Refusal
from qrspi.handlers.jobs.job import Options
from qrspi.world.runs.workspace import Workspace


def advance(path: str) -> None:
    engine.advance(Workspace(path), Options())


if __name__ == "__main__":
    try:
        advance(sys.argv[1])
    except Refusal as refusal:
        sys.exit(f"{refusal.exit_code} {refusal}")
