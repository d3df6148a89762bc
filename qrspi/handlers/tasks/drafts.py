"""Draft the records of code steps, and commit them: reviewers are sent to what is committed."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.code_steps import batch, gate_records, implement, shipping
from qrspi.core.errors import accepted
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Fault
from qrspi.handlers.changes.change_set import commit_files
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import commits, refs, repository

Fields = Mapping[str, str | int]

TITLES = {
    "implement": "Implementation of phase {phase}",
    "integrate": "Integration of phase {phase}",
    "test": "Test results of phase {phase}",
}


def implementation(job: Job) -> Performed:
    states = implement.everything(job.facts, batch.read(job.facts))
    path = write(job, "implement", gate_records.implementation(states))
    commit_files(job, (path,), "draft implement")
    return Performed("draft-implementation", "implement", 0, (path,))


def pull_request_text(job: Job) -> Performed:
    """pull-request.md. Nothing is sent anywhere; a person does that after the gate."""
    path, title = shipping.PULL_REQUEST, shipping.title(job.facts)
    job.workspace.write(
        path, with_block(job, path, title, shipping.pull_request(job.facts, job.loop))
    )
    commit_files(job, (path,), "draft the pull request")
    return Performed("draft-pull-request", "test", 0, (path,))


def uncommitted(job: Job) -> tuple[str, ...]:
    """Left by a kill. A record that HEAD has may differ because somebody is at it."""
    repo = repository.find(job.workspace.path)
    if repo is None or not job.commits or job.options.dry_run or not refs.head(repo):
        return ()
    step = job.facts.step
    drafted = (STEP[step].artifact, *((shipping.PULL_REQUEST,) if step == "test" else ()))
    known = commits.names(repo, "HEAD")
    return tuple(path for path in drafted if path in job.facts.names and path not in known)


def commit(job: Job) -> Performed:
    paths = uncommitted(job)
    commit_files(job, paths, f"draft {job.facts.step}")
    return Performed("commit-drafts", job.facts.step, 0, paths)


def write(job: Job, step: str, block: str, fields: Fields | None = None) -> str:
    path = STEP[step].artifact
    new = isinstance(job.workspace.read(path), Fault)
    status = {"status": "draft"} if new else {}
    title = TITLES[step].format(phase=job.facts.phase)
    stated = {**status, "phase": job.facts.phase, **(fields or {})}
    job.workspace.write(path, with_block(job, path, title, block, stated))
    return path


def with_block(job: Job, path: str, title: str, block: str, fields: Fields | None = None) -> bytes:
    """The record with this block in it. What people wrote around the block stays."""
    return accepted(gate_records.drafted(job.workspace.read(path), title, block, fields or {}))
