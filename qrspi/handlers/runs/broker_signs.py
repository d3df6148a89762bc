"""What `doctor` says of the broker that the environment names."""

from __future__ import annotations

import os
from collections.abc import Iterator

from qrspi.core.config import reader as configs
from qrspi.core.errors import Refusal
from qrspi.core.fleet import queues
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.runs.doctor import Sign
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.fleet import connection
from qrspi.world.fleet.connection import BrokerLost, Line, QueueState
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root


def look(root: Root | None) -> Iterator[Sign]:
    try:
        where = connection.address(os.environ)
        line = connection.connect(where)
    except Refusal as refusal:
        yield Sign("problem", "broker", refusal.problem.message)
        return
    yield Sign("ok", "broker", f"{where.shown} answers")
    try:
        for vendor in _vendors(root) if root else ():
            yield _queue(vendor, line)
    except (BrokerLost, TimeoutError):
        yield Sign("problem", "broker", f"{where.shown} was lost while it was asked")
    line.close()


def _vendors(root: Root) -> list[str]:
    vendors: dict[str, None] = {}
    for run in locate.readable_runs(root):
        config = configs.read(DiskTree(run.path).read("config.md", CONFIG_LIMIT))
        models = [*(config.model_routing or {}).values(), config.second_reviewer_model]
        vendors |= {model.vendor: None for model in models if model}
    return [vendor for vendor in vendors if queues.is_vendor(vendor)]


def _queue(vendor: str, line: Line) -> Sign:
    about_vendor = f"workers for {vendor}"
    standing = line.standing(queues.of_vendor(vendor).name) or QueueState(0, 0)
    waiting = f"{standing.waiting} job{'s' if standing.waiting != 1 else ''} waiting"
    if standing.consumers:
        return Sign("ok", about_vendor, f"{standing.consumers}, {waiting}")
    return Sign("note", about_vendor, f"none, {waiting}", "qrspi worker")
