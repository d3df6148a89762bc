"""The addresses of resources, and which of them a changed file stands behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from qrspi.core.pipeline import STEPS, subject

RUNS = "qrspi://runs"
RUN = "qrspi://runs/{run}"
FILE = "qrspi://runs/{run}/files/{+path}"
ROUND = "qrspi://runs/{run}/{step}/rounds/{round}"

_OF_ROUND = re.compile(r"(reviews/.+)/round-([0-9]+)(?:$|[^0-9])")
_KEYS = (*(step.name for step in STEPS), "implement-gate")


def of_run(run: str) -> str:
    return f"{RUNS}/{quote(run)}"


def of_file(run: str, path: str) -> str:
    return f"{of_run(run)}/files/{quote(path)}"


def touched(run: str, path: str) -> Iterator[str]:
    """Everything that may read differently now."""
    yield RUNS
    yield of_run(run)
    yield of_file(run, path)
    if found := _OF_ROUND.match(path):
        for step in _reviewed_in(found[1]):
            yield f"{of_run(run)}/{quote(step)}/rounds/{int(found[2])}"


def _reviewed_in(folder: str) -> tuple[str, ...]:
    keys = (*_KEYS, folder.removeprefix("reviews/tasks/"))
    return tuple(key for key in keys if (about := subject(key)) and about.reviews == folder)
