"""Put on record that a file in a round would have let a reviewer be left out."""

from __future__ import annotations

from qrspi.core.errors import Halt, Refusal
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.runs.workspace import Workspace


def handle(job: Job) -> Performed:
    loop = job.round_loop
    files = record(job.workspace, loop)
    return Performed("record-bypass", loop.subject.key, loop.number, files)


def record(workspace: Workspace, loop: Loop) -> tuple[str, ...]:
    """One record for each forged content. The manifest knows a record before it is there, or
    the next reader would take it for a forgery as well. A record that cannot be written halts."""
    assert loop.round is not None
    written = []
    manifest = loop.manifest
    for name, data in loop.round.bypasses:
        if manifest:
            known = {**manifest.engine_files, name: visual.digest(data)}
            manifest = manifest._replace(engine_files=known)
            workspace.write(loop.paths.manifest, manifests.render(manifest))
        path = f"{loop.paths.directory}/{name}"
        _create(workspace, path, data)
        written.append(path)
    return tuple(written)


def _create(workspace: Workspace, path: str, data: bytes) -> None:
    try:
        workspace.create(path, data)
    except Refusal as refusal:
        text = f"an attempt to leave a reviewer out cannot be recorded: {refusal.problem.message}"
        raise Halt(refusal.problem._replace(message=text)) from None
