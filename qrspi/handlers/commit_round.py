"""Put a finished round on record: dispositions, one commit, its anchor."""

from __future__ import annotations

import hashlib

from qrspi.core import bodies, converge
from qrspi.core.filenames import RoundPaths, loop_choice, pause_file, slug_of
from qrspi.core.loop import Loop
from qrspi.core.model import Problem
from qrspi.core.refusal import Refusal
from qrspi.core.tree import Fault
from qrspi.handlers import owned
from qrspi.handlers.job import Job, Performed
from qrspi.world import commits, refs, repository
from qrspi.world.commits import Committed
from qrspi.world.repository import Repo
from qrspi.world.workspace import Workspace


def handle(job: Job) -> Performed:
    loop = job.round_loop
    files = [*_own_dispositions(job.workspace, loop)]
    repo = repository.find(job.workspace.path)
    if repo is not None and not job.options.no_commit:
        _anchor(job, loop, repo)
        files.append(loop.paths.anchor)
    return Performed("commit-round", loop.subject.key, loop.number, tuple(files))


def _own_dispositions(workspace: Workspace, loop: Loop) -> list[str]:
    """When nothing was applied there is nobody else to say so."""
    path = loop.paths.dispositions
    if loop.to_apply or not isinstance(workspace.head(path), Fault):
        return []
    skipped = "".join(
        f"- {item.finding.name}: skipped by a person\n"
        for item in loop.triaged
        if item.verdict != "drop"
    )
    head = f"---\nround: {loop.number}\nartifact: {loop.subject.key}\n---\n"
    text = f"{head}\n# Round {loop.number:02d} dispositions\n\nNothing was applied.\n\n{skipped}"
    workspace.create(path, text.encode())
    return [path]


def trailers(workspace: Workspace, run: str, loop: Loop) -> tuple[str, str]:
    """Both together name a round even after a new phase counts from 01 again."""
    manifest = workspace.read(loop.paths.manifest)
    digest = hashlib.sha256(b"" if isinstance(manifest, Fault) else manifest).hexdigest()
    return (
        f"QRSPI-Round: {run}/{loop.subject.key}/{loop.number:02d}",
        f"QRSPI-Manifest: {digest}",
    )


def _anchor(job: Job, loop: Loop, repo: Repo) -> None:
    marks = trailers(job.workspace, job.run, loop)
    before = RoundPaths(loop.subject.reviews, loop.number - 1).anchor
    since = converge.anchor(job.workspace.head(before))
    made = commits.find(repo, marks, since) or _commit(job, loop, repo, marks)
    job.workspace.write(loop.paths.anchor, f"{made}\n".encode())


def _commit(job: Job, loop: Loop, repo: Repo, marks: tuple[str, str]) -> str:
    message = f"docs(qrspi): review round {loop.number:02d} of {loop.subject.key} for "
    files = (*covered(job.workspace, loop), *owned.changed(job.workspace, repo))
    done = commits.commit(repo, files, message + slug_of(job.run), marks)
    if isinstance(done, Committed):
        return done.commit
    raise Refusal(
        Problem(
            "nothing-to-commit",
            f"round {loop.number:02d} of {loop.subject.key} is committed already, but not by "
            f"qrspi: take HEAD as its anchor with `qrspi round commit {job.run} "
            f"{loop.subject.key} --adopt`",
            file=loop.paths.directory,
            hint=f"qrspi round commit {job.run} {loop.subject.key} --adopt",
        )
    )


def covered(workspace: Workspace, loop: Loop) -> tuple[str, ...]:
    """Exactly what belongs to the round, run-relative."""
    paths = loop.paths
    artifact = (
        (loop.subject.artifact,)
        if loop.subject.is_task
        else bodies.paths(workspace, loop.subject.step)
    )
    return (
        *artifact,
        paths.directory,
        paths.diff,
        paths.verified,
        paths.scope_set,
        paths.dispositions,
        paths.skipped,
        loop_choice(loop.subject.reviews),
        pause_file(loop.subject.key, loop.number),
        RoundPaths(loop.subject.reviews, loop.number - 1).anchor,
    )


def adopt(job: Job) -> Performed:
    """Take HEAD as the anchor of a round that a person committed."""
    loop = job.round_loop
    repo = repository.find(job.workspace.path)
    commit = refs.head(repo) if repo else None
    if repo is None or commit is None:
        text = f"{job.run} has no commit to adopt: it is not in a git repository with commits"
        raise Refusal(Problem("no-commit", text))
    _check_adopted(job, loop, repo, commit)
    job.workspace.write(loop.paths.anchor, f"{commit}\n".encode())
    return Performed("adopt-commit", loop.subject.key, loop.number, (loop.paths.anchor,))


def _check_adopted(job: Job, loop: Loop, repo: Repo, commit: str) -> None:
    changed = set(commits.paths_of(repo, commit))
    needed = repo.from_root(loop.paths.directory) + "/"
    if not any(name.startswith(needed) for name in changed):
        raise Refusal(
            Problem(
                "wrong-commit",
                f"HEAD ({commit[:12]}) does not touch {loop.paths.directory}: expected the commit "
                f"of round {loop.number:02d}; commit the round's files first",
                file=loop.paths.directory,
                found=commit,
            )
        )
