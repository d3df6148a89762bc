"""The addresses of resources, and which of them a changed file belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from qrspi.core.filenames import round_beside, round_number
from qrspi.core.pipeline import STEPS, subject

RUNS = "qrspi://runs"
RUN = "qrspi://runs/{run}"
FILE = "qrspi://runs/{run}/files/{+path}"
ROUND = "qrspi://runs/{run}/{step}/rounds/{round}"

_KEYS = (*(step.name for step in STEPS), "implement-gate")


def of_run(run: str) -> str:
    return f"{RUNS}/{quote(run)}"


def of_file(run: str, path: str) -> str:
    return f"{of_run(run)}/files/{quote(path)}"


def touched(run: str, path: str) -> Iterator[str]:
    yield RUNS
    yield of_run(run)
    yield of_file(run, path)
    for folder, number in _rounds(path):
        for step in (*_KEYS, folder.removeprefix("reviews/tasks/")):
            if (about := subject(step)) and about.reviews == folder:
                yield f"{of_run(run)}/{quote(step)}/rounds/{number}"


def _rounds(path: str) -> Iterator[tuple[str, int]]:
    parts = path.split("/")
    for at, part in enumerate(parts):
        if number := round_number(part) or round_beside(part):
            yield "/".join(parts[:at]), number
