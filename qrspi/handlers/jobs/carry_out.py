"""Carry one thing out and put it on record, also when it could not be finished."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from qrspi.core.errors import Refusal
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Job, Performed

Handler = Callable[[Job], Performed]


def carry_out(handler: Handler, job: Job) -> Performed:
    job.workspace.changes.clear()
    try:
        done = handler(job)
    except Refusal as refusal:
        step, number = job.next.step or job.facts.step, job.next.round
        half = Performed(job.next.action, step, number)
        # A disk that is full is said once, in the words of what it stopped.
        with suppress(Refusal):
            if job.workspace.changes:
                outcome = f"stopped: {refusal.problem.message}"
                audit.record(job.workspace, job.options.actor, half, outcome)
        raise
    audit.record(job.workspace, job.options.actor, done)
    return done
