"""Draft implementation.md: every task of the phase and how it ended."""

from __future__ import annotations

from qrspi.core import batch, delivery, gaterecords
from qrspi.handlers import gate_record
from qrspi.handlers.job import Job, Performed


def handle(job: Job) -> Performed:
    states = delivery.everything(job.facts, batch.read(job.facts))
    path = gate_record.write(job, "implement", gaterecords.implementation(states))
    gate_record.commit(job, "draft implement", (path,))
    return Performed("draft-implementation", "implement", 0, (path,))
