"""Tasks whose implementers have sent no heartbeat for too long. Only the clock shows that, no
file."""

from __future__ import annotations

from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_board import STALE
from qrspi.core.model import RunState
from qrspi.world.machine import clock


def told(state: RunState) -> RunState:
    """The state with a warning for each of them."""
    silent = checkpoint_board.stale(state.checkpoints, clock.seconds())
    return state._replace(warnings=state.warnings + silent)


def until_next(state: RunState) -> float | None:
    """Seconds until another of them may have been silent for too long."""
    now = clock.seconds()
    beats = (row.heartbeat for row in state.checkpoints if checkpoint_board.is_beating(row))
    left = [beat + STALE + 1 - now for beat in beats if beat is not None]
    return min((float(one) for one in left if one > 0), default=None)
