"""One file per action: carry it out, decide nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from qrspi.core.model import Next

if TYPE_CHECKING:
    from qrspi.handlers.job import Job, Options, Performed

# What the engine does by itself. A module is imported when its action is derived.
MECHANICAL = {
    "prepare-round": "prepare",
    "assemble": "assemble",
    "commit-round": "commit_round",
    "cascade": "cascade",
    "loop": "choose_loop",
}


def find(answer: Next, options: Options) -> Callable[[Job], Performed] | None:
    """The handler of a derived action; None when a person or an agent is to act."""
    action = answer.kind if answer.kind in ("cascade", "loop") else answer.action
    if action not in MECHANICAL or (action == "commit-round" and options.no_commit):
        return None
    if answer.who != "engine" and action != "loop":
        return None
    module = importlib.import_module(f"qrspi.handlers.{MECHANICAL[action]}")
    handle: Callable[[Job], Performed] = module.handle
    return handle
