"""The end of a phase, when another one follows."""

from __future__ import annotations

from qrspi.core.artifacts import phases
from qrspi.core.pipeline import MARKER, STEP
from qrspi.core.tree import Fault
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import clock


def announce(job: Job) -> list[Edit]:
    """The marker that calls for a replan, to be there before the last step is approved; none
    after the last phase, and none where phases were never planned."""
    phasing = job.workspace.read(STEP["phasing"].artifact)
    if isinstance(phasing, Fault) or phases.is_last(phasing, job.facts.phase):
        return []
    if MARKER in job.facts.names:
        return []
    text = f"---\nphase: {job.facts.phase}\ntimestamp: {clock.now_utc()}\n---\n"
    what = f"phase {job.facts.phase} is done and another follows"
    return [Edit("create", MARKER, what, text.encode())]
