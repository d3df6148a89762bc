"""Assemble a task's round, and keep what was asked and answered in it."""

from __future__ import annotations

from qrspi.core import taskfiles
from qrspi.handlers import assemble, task_log
from qrspi.handlers.job import Job, Performed


def handle(job: Job) -> Performed:
    loop = job.round_loop
    done = assemble.handle(job)
    path = taskfiles.log_file(loop.subject.key)
    job.workspace.write(path, task_log.of_round(job, loop))
    return done._replace(files=(*done.files, path))
