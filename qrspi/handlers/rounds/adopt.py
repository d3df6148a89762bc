"""Take up a round that the engine did not open: from then on it counts, by a person's word."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.findings import guard
from qrspi.core.model import Problem
from qrspi.core.records import step_text
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.rounds.opening import ADOPT
from qrspi.handlers.changes import change_set, review_target
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.changes.review_target import Branch
from qrspi.handlers.jobs.job import Job


def plan(job: Job, number: int | None) -> ChangeSet:
    """Everybody whom the matrix and config.md name is expected, whatever its manifest says."""
    loop = job.round_loop
    _refuse(job, loop, number)
    manifest = loop.manifest or _of_now(job, loop)
    data = manifests.render(manifests.as_opened(manifest))
    path = loop.paths.manifest
    edit = Edit("write", path, f"expects {', '.join(manifest.expected_tags)}", data)
    decided = change_set.decision(job, ADOPT, loop.subject.key, loop.number, edit)
    edits = (edit, change_set.on_record(job, decided))
    return ChangeSet("adopt-round", loop.subject.key, loop.number, edits)


def _of_now(job: Job, loop: Loop) -> Manifest:
    """Files without a manifest: whoever takes them up says that they are about the text as it
    is."""
    reviewed = review_target.find(job, loop.subject)
    return Manifest(
        step=loop.subject.key,
        round=loop.number,
        body_hash=step_text.body_hash(job.workspace, loop.subject),
        expected_tags=guard.due(job.workspace, loop.subject, job.facts.config, None),
        commit=reviewed.tip if isinstance(reviewed, Branch) else "",
    )


def _refuse(job: Job, loop: Loop, number: int | None) -> None:
    key = loop.subject.key
    if not loop.number or number not in (None, loop.number):
        newest = f"the newest is {loop.number:02d}" if loop.number else "it has no round"
        text = f"only the newest round of {key} can be taken up, and {newest}"
        raise Refusal(Problem("no-round", text, file=loop.subject.reviews))
    if loop.problem and loop.manifest is None:
        raise Refusal(loop.problem)
    if loop.manifest and loop.is_proven:
        how = "was taken up already" if loop.opening == "adopted" else "was opened by qrspi"
        text = f"round {loop.number:02d} of {key} {how}: there is nothing to take up"
        hint = f"qrspi status {job.run}"
        raise Refusal(Problem("nothing-to-adopt", text, file=loop.paths.directory, hint=hint))
