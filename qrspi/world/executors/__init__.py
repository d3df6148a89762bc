"""Where dispatches are carried out. One so far: threads of this process."""

from __future__ import annotations

from qrspi.world.executors import local

EXECUTORS = {"local": local.run}
