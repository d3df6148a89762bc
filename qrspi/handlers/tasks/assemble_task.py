"""Assemble a task's round, and keep what was asked and answered in it."""

from __future__ import annotations

from qrspi.core.records import task_records as taskfiles
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.rounds import assemble
from qrspi.handlers.tasks import task_log


def handle(job: Job) -> Performed:
    loop = job.round_loop
    done = assemble.handle(job)
    path = taskfiles.log_file(loop.subject.key)
    job.workspace.write(path, task_log.of_round(job, loop))
    return done._replace(files=(*done.files, path))
