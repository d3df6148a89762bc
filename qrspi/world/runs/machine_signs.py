"""What no file of a run shows, only the machine: work trees that a complete run left behind, and
tasks whose implementers have sent no heartbeat for too long."""

from __future__ import annotations

import os

from qrspi.core.filenames import WORKTREES, slug_of
from qrspi.core.model import RunState
from qrspi.world.machine import clock
from qrspi.world.runs import project_search


def with_worktrees(state: RunState, path: str) -> RunState:
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


def with_silent_tasks(state: RunState) -> RunState:
    """The state with a warning for each of them."""
    from qrspi.core.gates.checkpoints import checkpoint_board

    silent = checkpoint_board.stale(state.checkpoints, clock.seconds())
    return state._replace(warnings=state.warnings + silent)


def until_silent(state: RunState) -> float | None:
    """Seconds until another of them may have been silent for too long."""
    from qrspi.core.gates.checkpoints import checkpoint_board

    now = clock.seconds()
    beats = (row.heartbeat for row in state.checkpoints if checkpoint_board.is_beating(row))
    left = [beat + checkpoint_board.STALE + 1 - now for beat in beats if beat is not None]
    return min((float(one) for one in left if one > 0), default=None)
