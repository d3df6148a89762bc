"""Draft implementation.md: every task of the phase and how it ended."""

from __future__ import annotations

from qrspi.core.code_steps import batch
from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import implement as delivery
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import gate_record


def handle(job: Job) -> Performed:
    states = delivery.everything(job.facts, batch.read(job.facts))
    path = gate_record.write(job, "implement", gaterecords.implementation(states))
    gate_record.commit(job, "draft implement", (path,))
    return Performed("draft-implementation", "implement", 0, (path,))
