"""How a run stands, now and whenever its files change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt
from qrspi.core.model import Problem, RunState
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs.locate import RunDir
from qrspi.world.watch.watcher import Watcher

_TIME = "."  # no file of a run is called so


def states(run: RunDir, path: str, timeout: float | None = None) -> Iterator[RunState]:
    """At least one; then one after each change, until the time is over."""
    watcher = Watcher(run.path)
    end = None if timeout is None else time.monotonic() + timeout
    if timeout is not None:
        watcher.remind(_TIME, timeout)
    for _ in watcher.changes():
        found = derive(DiskTree(run.path), path)
        if not os.path.isdir(run.path):
            text = f"run {run.name} is gone: it was deleted or renamed meanwhile"
            raise Halt(Problem("run-gone", text, file=run.path, hint="qrspi status"))
        yield found
        if end is not None and time.monotonic() >= end:
            return
