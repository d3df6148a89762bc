"""Agents that another command sends at this moment. Only a lock shows it, no file of the run."""

from __future__ import annotations

import os

from qrspi.core.model import RunState

LOCK = ".qrspi/dispatch-lock"


def told(state: RunState, path: str) -> RunState:
    """The state of the run at `path`, with whoever is at work for its next action."""
    if not (state.next.asks and os.access(f"{path}/{LOCK}", os.F_OK)):
        return state
    # Imported here: many runs never send anybody.
    from qrspi.core.tree import content
    from qrspi.world.files import lock
    from qrspi.world.files.run_tree import DiskTree

    tree = DiskTree(path)
    ours = content(tree, LOCK).startswith(b"%d " % os.getpid())
    if ours or lock.state(tree, LOCK) != "held":
        return state
    listed = f"qrspi dispatch list {state.run}"
    said = f"{state.next.summary} Agents are at work for it now: `{listed}` says who."
    return state._replace(next=state.next._replace(summary=said))
