"""The visual reviewer of a task: which pictures it may be shown, and the record when it is
not sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core.artifacts import task_file as tasks
from qrspi.core.artifacts.task_file import Task, VisualCheck
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.findings import visual_skip
from qrspi.core.findings.visual_skip import Dropped, Sifted
from qrspi.core.pipeline import Subject
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.nodes import Scalar
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import picture_files as assets
from qrspi.world.files.picture_files import Places


class Chain(NamedTuple):
    sent: bool = False
    sifted: Sifted = Sifted()
    files: Mapping[str, bytes] = {}  # of the engine, by name inside the round

    @property
    def hashes(self) -> dict[str, str]:
        """What the manifest keeps, so that nobody else's file is taken for the engine's."""
        return {name: visual.digest(data) for name, data in self.files.items()}


def look(job: Job, subject: Subject) -> Chain:
    """Only tasks have one."""
    if not subject.is_task:
        return Chain()
    required = job.facts.config.visual_fidelity_required is True
    task = tasks.read(job.workspace.read(subject.artifact), subject.key)
    check = task.visual_check if isinstance(task, Task) else None
    sifted = sift(check, places(job)) if required and check else Sifted()
    why = visual_skip.reason(required, check, sifted)
    return Chain(why is None, sifted, visual_skip.engine_files(why, sifted))


def places(job: Job) -> Places:
    """The run, and what its approved design declares under `assets`: a person has read that."""
    head = job.workspace.head("design.md")
    if frontmatter.status(head, "design.md")[0] != "approved" or isinstance(head, Fault):
        return assets.places(job.workspace.path, job.project, ())
    front = frontmatter.read(head)
    node = front.fields.get("assets", ()) if isinstance(front, Front) else ()
    items = (node,) if isinstance(node, Scalar) else node
    declared = [item.text for item in items if isinstance(item, Scalar)]
    return assets.places(job.workspace.path, job.project, declared)


def sift(check: VisualCheck, where: Places) -> Sifted:
    paths = (*check.wireframe_paths, *check.screenshot_paths)
    why = {path: assets.refusal(path, where) for path in paths}
    return Sifted(
        tuple(path for path in check.wireframe_paths if not why[path]),
        tuple(path for path in check.screenshot_paths if not why[path]),
        tuple(Dropped(path, reason) for path, reason in why.items() if reason),
    )


def write(job: Job, directory: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """After the manifest, which has to know them first."""
    for name, data in files.items():
        job.workspace.create(f"{directory}/{name}", data)
    return tuple(f"{directory}/{name}" for name in files)


def missing(job: Job) -> dict[str, bytes]:
    """What the open round's manifest records, and a kill kept from being written."""
    loop = job.round_loop
    recorded = loop.manifest.engine_files if loop.manifest else {}
    absent = {
        name
        for name in recorded
        if job.workspace.head(f"{loop.paths.directory}/{name}") == Fault("absent")
    }
    if not absent:
        return {}
    chain = look(job, loop.subject)
    return {
        name: data
        for name, data in chain.files.items()
        if name in absent and chain.hashes[name] == recorded[name]
    }


def handle(job: Job) -> Performed:
    loop = job.round_loop
    files = write(job, loop.paths.directory, missing(job))
    return Performed("record-skip", loop.subject.key, loop.number, files)
