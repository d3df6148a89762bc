"""One file per action: carry it out, decide nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrspi.handlers.job import Job, Performed

# What the engine does by itself. A module is imported when its action is derived.
MECHANICAL = {
    "prepare-round": "prepare",
    "assemble": "assemble",
    "commit-round": "commit_round",
    "cascade": "cascade",
    "loop": "choose_loop",
}


def find(job: Job) -> Callable[[Job], Performed] | None:
    """The handler of the derived action; None when a person or an agent is to act."""
    answer = job.next
    action = answer.kind if answer.kind in ("cascade", "loop") else answer.action
    if job.options.anyway and answer.kind == "approve" and job.loop and job.loop.fresh:
        action = "prepare-round"
    elif answer.who != "engine" and action != "loop":
        return None
    if action not in MECHANICAL or (action == "commit-round" and job.options.no_commit):
        return None
    module = importlib.import_module(f"qrspi.handlers.{MECHANICAL[action]}")
    handle: Callable[[Job], Performed] = module.handle
    return handle
