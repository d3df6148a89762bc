"""Files with the engine's own names that have changed, and config.md: every engine commit takes
them along, so that a fresh clone derives the same state."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.filenames import is_own_at_top, is_own_review
from qrspi.core.pipeline import CLOSED, MARKER
from qrspi.core.records.approvals import FILE as APPROVALS
from qrspi.core.steps.cascade import FILE as CASCADES
from qrspi.core.tree import Tree, entries
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, repository
from qrspi.world.git.commits import Committed
from qrspi.world.runs.workspace import Workspace

_ALWAYS = ("config.md", APPROVALS, CASCADES, MARKER, CLOSED)


def changed(workspace: Workspace) -> tuple[str, ...]:
    """Names to give to git, which takes those that differ from HEAD."""
    return (*_ALWAYS, *_top(workspace), *_reviews(workspace, "reviews"))


def commit(job: Job, paths: Sequence[str], message: str) -> str | None:
    """Commit these paths together with the engine's own files. There is no commit outside git, when
    a person commits by hand, and where HEAD has everything already."""
    repo = repository.find(job.workspace.path)
    if repo is None or not job.commits:
        return None
    files = (*paths, *changed(job.workspace))
    done = commits.commit(repo, files, f"docs(qrspi): {message}")
    return done.commit if isinstance(done, Committed) else None


def _top(tree: Tree) -> list[str]:
    return [entry.name for entry in entries(tree, "") if is_own_at_top(entry.name)]


def _reviews(tree: Tree, folder: str) -> list[str]:
    found: list[str] = []
    for entry in entries(tree, folder):
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and not entry.name.startswith("round-"):
            found += _reviews(tree, path)
        elif entry.kind == "file" and is_own_review(entry.name):
            found.append(path)
    return found
