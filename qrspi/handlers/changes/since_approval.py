"""What was edited in an artifact after a person approved it."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import Subject
from qrspi.handlers.changes import review_target as target
from qrspi.world.git import commits, diffs, repository
from qrspi.world.git.refs import Ref
from qrspi.world.runs.workspace import Workspace


class Edited(NamedTuple):
    commit: str
    diff: bytes


def look(workspace: Workspace, subject: Subject) -> Edited:
    repo = repository.find(workspace.path)
    if repo is None:
        raise _unknown(workspace.name, subject, "the run is not in a git repository")
    line = f"docs(qrspi): approve {subject.step} for {slug_of(workspace.name)}"
    files = target.files(workspace, subject, repo)
    commit = commits.find(repo, (line,), paths=files)
    if commit is None:
        raise _unknown(workspace.name, subject, "no commit of this branch approves it")
    return Edited(commit, diffs.text(repo, Ref(commit, commit), files))


def _unknown(run: str, subject: Subject, why: str) -> Refusal:
    text = f"{subject.artifact} of {run} cannot be compared with its approval: {why}"
    return Refusal(Problem("no-approval", text, file=subject.artifact, hint=f"qrspi log {run}"))
