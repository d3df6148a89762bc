"""Write pull-request.md. Nothing is sent anywhere: `gh pr create` is a person's to run."""

from __future__ import annotations

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import pull_request as pullrequest
from qrspi.core.code_steps import test as testing
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import gate_record


def handle(job: Job) -> Performed:
    path = pullrequest.FILE
    text = testing.pull_request(job.facts)
    now = job.workspace.read(path)
    data = gaterecords.drafted(now, pullrequest.title(job.facts), text, {})
    if isinstance(data, Problem):
        raise Refusal(data)
    job.workspace.write(path, data)
    gate_record.commit(job, "draft the pull request", (path,))
    hint = f"gh pr create --body-file {job.workspace.path}/{path}"
    return Performed("draft-pull-request", "test", 0, (path,), (f"to open it: {hint}",))
