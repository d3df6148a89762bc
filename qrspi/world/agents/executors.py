"""Where dispatches are carried out. One so far: threads of this process."""

from __future__ import annotations

from qrspi.world.agents import thread_pool as local

EXECUTORS = {"local": local.run}
