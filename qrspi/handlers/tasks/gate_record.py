"""Write what was counted into a step's record, and commit it: reviewers are sent to what is
committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.tree import Fault
from qrspi.handlers.changes import engine_files as owned
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, repository

TITLES = {
    "implement": "Implementation of phase {phase}",
    "integrate": "Integration of phase {phase}",
    "test": "Test results of phase {phase}",
}


def write(job: Job, step: str, block: str, fields: Mapping[str, str | int] | None = None) -> str:
    """The record's path. What people wrote around the block stays."""
    path = STEP[step].artifact
    title = TITLES[step].format(phase=job.facts.phase)
    now = job.workspace.read(path)
    said: dict[str, str | int] = {"phase": job.facts.phase, **(fields or {})}
    if isinstance(now, Fault):
        said = {"status": "draft", **said}
    data = gaterecords.drafted(now, title, block, said)
    if isinstance(data, Problem):
        raise Refusal(data)
    job.workspace.write(path, data)
    return path


def commit(job: Job, message: str, paths: Sequence[str]) -> None:
    """With the engine's own files; nothing outside git, and nothing when a person commits."""
    repo = repository.find(job.workspace.path)
    if repo is None or job.options.no_commit:
        return
    text = f"docs(qrspi): {message} for {slug_of(job.run)}"
    commits.commit(repo, (*paths, *owned.changed(job.workspace, repo)), text)
