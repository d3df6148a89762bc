"""Turn a checked round into its verified file, its scope set and, if a person must choose,
its pause file."""

from __future__ import annotations

from qrspi.core import loop as loops
from qrspi.core import pauses, scope, verified
from qrspi.core.filenames import pause_file
from qrspi.core.loop import Loop
from qrspi.core.scope import ScopeSet
from qrspi.core.tree import Fault
from qrspi.handlers.job import Job, Performed
from qrspi.world.workspace import Workspace


def handle(job: Job) -> Performed:
    loop = job.round_loop
    notes = normalise(job.workspace, loop)
    files = [*write_verified(job), *write_scope_set(job, notes), *write_pause(job)]
    return Performed("assemble", loop.subject.key, loop.number, tuple(files), tuple(notes))


def normalise(workspace: Workspace, loop: Loop) -> list[str]:
    """Reviewers' files end in exactly one newline: the one edit the engine makes to them."""
    assert loop.round is not None
    notes = []
    for name in loop.round.unfinished:
        path = f"{loop.paths.directory}/{name}"
        data = workspace.read(path)
        if not isinstance(data, Fault):
            workspace.replace(path, data, data.rstrip(b"\r\n") + b"\n")
            notes.append(f"{path}: the last newline was normalised")
    return notes


def write_verified(job: Job) -> list[str]:
    loop = job.round_loop
    assert loop.round is not None
    job.workspace.write(loop.paths.verified, loops.assembled(loop, job.facts.config))
    kept = [
        f"{loop.paths.directory}/{item.finding.file}"
        for item in loop.triaged
        if item.verdict != "drop"
    ]
    job.workspace.write(loop.paths.kept, verified.kept_list(kept))
    return [loop.paths.verified, loop.paths.kept]


def derive_scope(job: Job) -> ScopeSet:
    loop = job.round_loop
    artifact = job.workspace.read(loop.subject.artifact)
    return scope.derive(loop.triaged, loop.subject, job.run, artifact)


def write_scope_set(job: Job, notes: list[str]) -> list[str]:
    """Written once, before fixes move lines; again only when the count of findings differs."""
    loop = job.round_loop
    if not loops.tags_scope(loop, job.facts.config) or not loops.scope_set_is_stale(
        job.workspace, loop
    ):
        return []
    found = derive_scope(job)
    job.workspace.write(loop.paths.scope_set, scope.render(loop.number, found))
    if line := scope.fallback_line(loop.number, found):
        notes.append(line)
    return [loop.paths.scope_set]


def write_pause(job: Job) -> list[str]:
    loop = job.round_loop
    if loop.pause is not None or not pauses.waiting(loop.triaged):
        return []
    path = pause_file(loop.subject.key, loop.number)
    job.workspace.create(path, pauses.render(loop.subject.key, loop.number, loop.triaged))
    return [path]
