"""Turn a checked round into its verified file, its scope set and its pause file."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.filenames import pause_file
from qrspi.core.findings.submission import finished
from qrspi.core.model import Problem
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds import scope_set, verified_file
from qrspi.core.rounds.loop import Loop, keeps_scope_set
from qrspi.core.rounds.scope_set import ScopeSet
from qrspi.core.tree import Fault, exists
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.runs.workspace import Workspace


def handle(job: Job) -> Performed:
    loop = job.round_loop
    notes = normalise(job.workspace, loop)
    files = [*write_verified(job), *write_scope_set(job, notes), *write_pause(job)]
    return Performed("assemble", loop.subject.key, loop.round, tuple(files), tuple(notes))


def normalise(workspace: Workspace, loop: Loop) -> list[str]:
    """Reviewers' files end in exactly one newline: the one edit the engine makes to them."""
    assert loop.files is not None
    return [
        _normalise(workspace, f"{loop.paths.directory}/{name}") for name in loop.files.unfinished
    ]


def _normalise(workspace: Workspace, path: str) -> str:
    data = workspace.read(path)
    if not isinstance(data, Fault):
        workspace.replace(path, data, finished(data))
    return f"{path}: the last newline was normalised"


def write_verified(job: Job) -> list[str]:
    loop = job.round_loop
    if loop.imported and exists(job.workspace, loop.paths.verified):
        return []
    job.workspace.write(loop.paths.verified, loop.verified)
    kept = verified_file.kept_paths(loop.paths.directory, loop.triaged)
    job.workspace.write(loop.paths.kept, verified_file.kept_list(kept))
    return [loop.paths.verified, loop.paths.kept]


def read_scope_set(workspace: Workspace, loop: Loop) -> ScopeSet | None:
    loaded = scope_set.load(workspace.read(loop.paths.scope_set))
    if isinstance(loaded, Problem):
        raise Refusal(scope_set.malformed(loop.paths, loaded))
    return loaded


def write_scope_set(job: Job, notes: list[str]) -> list[str]:
    """Written once, before fixes move lines; again only when the number of findings differs."""
    loop = job.round_loop
    if not keeps_scope_set(loop.subject, job.facts.config):
        return []
    path = loop.paths.scope_set
    if loop.imported and exists(job.workspace, path):
        return []
    there = read_scope_set(job.workspace, loop)
    if there is None or scope_set.is_stale(there, loop.kept):
        return _write_new_scope_set(job, notes)
    if there.normalised:
        notes.append(_normalise(job.workspace, path))
        return [path]
    return []


def _write_new_scope_set(job: Job, notes: list[str]) -> list[str]:
    loop = job.round_loop
    artifact = job.workspace.read(loop.subject.artifact)
    prefix = job.workspace.path.removeprefix(f"{job.project}/")
    derived = scope_set.derive(loop.triaged, loop.subject, job.run, artifact, prefix, job.project)
    job.workspace.write(loop.paths.scope_set, scope_set.render(loop.round, derived))
    if line := scope_set.fallback_line(loop.round, derived):
        notes.append(line)
    return [loop.paths.scope_set]


def write_pause(job: Job) -> list[str]:
    loop = job.round_loop
    if loop.pause is not None or not pauses.waiting(loop.triaged):
        return []
    path = pause_file(loop.subject.key, loop.round)
    job.workspace.create(path, pauses.render(loop.subject.key, loop.round, loop.triaged))
    return [path]
