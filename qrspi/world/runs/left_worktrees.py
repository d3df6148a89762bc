"""Work trees that tasks of a complete run left behind. Only the disk shows them, no file of the
run."""

from __future__ import annotations

import os

from qrspi.core.filenames import WORKTREES, slug_of
from qrspi.core.model import RunState
from qrspi.world.runs import project_search


def told(state: RunState, path: str) -> RunState:
    """The state of the run at `path`, with an offer to remove them."""
    top = project_search.top(path)
    names = (slug_of(state.run), state.run)
    folder = next((n for n in names if top and os.path.isdir(f"{top}/{WORKTREES}/{n}")), None)
    if folder is None or state.closed:
        return state
    command = f"qrspi task clean {state.run}"
    summary = (
        f"{state.next.summary} Its work trees are in {WORKTREES}/{folder}: `{command}` removes "
        "those that are merged, and their branches."
    )
    return state._replace(next=state.next._replace(summary=summary, command=command))
