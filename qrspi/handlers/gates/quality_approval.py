"""The quality gate where tasks are approved and started. Nobody is sent from here."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts.task_file import task_path
from qrspi.core.errors import Refusal, accepted
from qrspi.core.filenames import task_file_key
from qrspi.core.gates.quality import judgement as judgements
from qrspi.core.gates.quality import quality_gate, task_spec
from qrspi.core.gates.quality.judgement import Judgement
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import quality_blocks
from qrspi.core.tree import Fault
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.gates import quality
from qrspi.handlers.gates.quality import QualityCheck, Reached
from qrspi.handlers.jobs.job import Job


def is_on(job: Job) -> bool:
    return quality_gate.is_on(job.facts.config)


class Approved(NamedTuple):
    edits: tuple[Edit, ...]  # the record first, then the tasks
    notes: tuple[str, ...]


def approved(job: Job, paths: Iterable[str]) -> Approved:
    """Each task becomes approved in the same write that gives it its verdict."""
    check = QualityCheck(job)
    lines: list[bytes] = []
    edits: list[Edit] = []
    notes: list[str] = []
    for path in paths:
        key = task_file_key(path.rpartition("/")[2])
        judgement = None if key is None or quality_gate.is_exempt(key) else _looked_up(check, key)
        if judgement:
            judgement, line = quality.on_record(check.records, Reached(judgement, "rubric"))
            lines += [line] if line else []
            notes += _notes(judgement)
        edits += _edit(job, path, judgement)
    if lines:
        edits.insert(0, Edit("append", quality_blocks.FILE, "verdicts", b"".join(lines)))
    return Approved(tuple(edits), tuple(notes))


def _looked_up(check: QualityCheck, key: str) -> Judgement:
    judged = check.look(key, "cache-only")
    assert isinstance(judged, Judgement)  # nobody is asked in this mode
    return judged


def _notes(judgement: Judgement) -> list[str]:
    if judgement.source == "skip":
        return [f"{judgement.task}: {judgement.because}"]
    if judgement.verdict == "PASS" and not judgement.is_claim:
        return []
    return [f"{judgement.task} is {judgement.verdict}: {judgement.because}"]


def _edit(job: Job, path: str, judgement: Judgement | None) -> list[Edit]:
    data = job.workspace.read(path)
    if isinstance(data, Fault):
        raise Refusal(Problem("unreadable", f"cannot read {path}: {data.reason}", path))
    edit = change_set.set_fields(job.workspace, path, {"status": "approved"}, "status: approved")
    changed = edit.data if edit else data
    carries = judgement is not None and (judgement.is_new or judgement.source == "skip")
    if judgement is not None and carries:
        whole = accepted(judgements.written(changed, judgement, path))
        changed = whole
    if changed == data:
        return []
    what = f"status: approved, {judgement.verdict}" if judgement and carries else "status: approved"
    return [Edit("replace", path, what, changed, data)]


def objection(job: Job, key: str) -> Problem | None:
    """Why a task cannot start; None when it has a PASS, or a person let it through."""
    if not is_on(job) or quality_gate.is_exempt(key):
        return None
    check = QualityCheck(job)
    judgement = _looked_up(check, key)
    if judgement.verdict == "PASS" and not judgement.is_claim:
        return None
    if check.records.let_through(key, judgement.hash) and judgement.hash:
        return None
    text = f"{key} has no PASS for its text as it is ({judgement.because}); start it with --anyway"
    return Problem(
        "not-passed",
        text,
        file=task_path(key),
        field=task_spec.FIELD,
        found=judgement.verdict,
        expected="PASS",
        hint=f"qrspi quality check {job.run} {key}",
    )


def rejected(job: Job, keys: Iterable[str]) -> tuple[Judgement, ...]:
    if not is_on(job):
        return ()
    check = QualityCheck(job)
    judged = (_looked_up(check, key) for key in keys if not quality_gate.is_exempt(key))
    return tuple(
        one
        for one in judged
        if one.source == "rubric" and not check.records.let_through(one.task, one.hash)
    )
