"""Write pull-request.md. Nothing is sent anywhere: `gh pr create` is a person's to run."""

from __future__ import annotations

from qrspi.core import gaterecords, pullrequest, testing
from qrspi.core.model import Problem
from qrspi.core.refusal import Refusal
from qrspi.handlers import gate_record
from qrspi.handlers.job import Job, Performed


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
