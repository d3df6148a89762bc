"""The visual reviewer of a task: what it is shown, when it is left out, and who forged that."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.task_file import Task, VisualCheck
from qrspi.core.errors import Halt, Refusal
from qrspi.core.findings import visual_excuse
from qrspi.core.findings.visual_excuse import Dropped, Sifted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Scalar
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import picture_files
from qrspi.world.files.picture_files import Places
from qrspi.world.runs.workspace import Workspace


class Chain(NamedTuple):
    sent: bool = False
    files: Mapping[str, bytes] = {}  # of the engine, by name inside the round

    @property
    def hashes(self) -> dict[str, str]:
        """Kept by the manifest, so that nobody else's file passes for the engine's."""
        return {name: visual_excuse.digest(data) for name, data in self.files.items()}


def look(job: Job, subject: Subject) -> Chain:
    required = job.facts.config.visual_fidelity_required is True
    task = task_file.read(job.workspace.read(subject.artifact), subject.key)
    check = task.visual_check if isinstance(task, Task) else None
    sifted = sift(check, places(job)) if required and check else Sifted()
    why = visual_excuse.skip_reason(required, check, sifted)
    return Chain(why is None, visual_excuse.engine_files(why, sifted))


def places(job: Job) -> Places:
    """The run, and what its approved design declares under `assets`, which a person has read."""
    head = job.workspace.head("design.md")
    if frontmatter.status(head, "design.md")[0] != "approved":
        return picture_files.places(job.workspace.path, job.project, ())
    node = frontmatter.fields(head).get("assets", ())
    items = (node,) if isinstance(node, Scalar) else node
    declared = [item.text for item in items if isinstance(item, Scalar)]
    return picture_files.places(job.workspace.path, job.project, declared)


def sift(check: VisualCheck, where: Places) -> Sifted:
    paths = (*check.wireframe_paths, *check.screenshot_paths)
    why = {path: picture_files.refusal(path, where) for path in paths}
    return Sifted(
        tuple(path for path in check.wireframe_paths if not why[path]),
        tuple(path for path in check.screenshot_paths if not why[path]),
        tuple(Dropped(path, reason) for path, reason in why.items() if reason),
    )


def missing(job: Job) -> dict[str, bytes]:
    """Files that the open round's manifest records, but that a kill kept from being written."""
    loop = job.round_loop
    recorded = loop.manifest.engine_files if loop.manifest else {}
    paths = {name: f"{loop.paths.directory}/{name}" for name in recorded}
    absent = {name for name, at in paths.items() if job.workspace.head(at) == Fault("absent")}
    if not absent:
        return {}
    chain = look(job, loop.subject)
    return {
        name: data
        for name, data in chain.files.items()
        if name in absent and chain.hashes[name] == recorded[name]
    }


def record_skip(job: Job) -> Performed:
    loop = job.round_loop
    files = {f"{loop.paths.directory}/{name}": data for name, data in missing(job).items()}
    for path, data in files.items():
        job.workspace.create(path, data)
    return Performed("record-skip", loop.subject.key, loop.round, tuple(files))


def record_bypasses(job: Job) -> Performed:
    loop = job.round_loop
    files = write_bypasses(job.workspace, loop)
    return Performed("record-bypass", loop.subject.key, loop.round, files)


def write_bypasses(workspace: Workspace, loop: Loop) -> tuple[str, ...]:
    """The manifest first: a record that it does not know reads as a forgery."""
    assert loop.files is not None
    written = []
    manifest = loop.manifest
    for name, data in loop.files.bypasses:
        if manifest:
            known = {**manifest.engine_files, name: visual_excuse.digest(data)}
            manifest = manifest._replace(engine_files=known)
            workspace.write(loop.paths.manifest, manifests.render(manifest))
        path = f"{loop.paths.directory}/{name}"
        _create_record(workspace, path, data)
        written.append(path)
    return tuple(written)


def _create_record(workspace: Workspace, path: str, data: bytes) -> None:
    try:
        workspace.create(path, data)
    except Refusal as refusal:
        text = f"an attempt to leave a reviewer out cannot be recorded: {refusal.problem.message}"
        raise Halt(refusal.problem._replace(message=text)) from None
