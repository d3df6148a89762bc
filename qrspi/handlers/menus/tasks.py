"""Menus about tasks: texts without a PASS, and the gate at the end of a batch."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import parallelization, task_file
from qrspi.core.code_steps import batch, implement
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.records import task_records
from qrspi.core.records.quality_blocks import FILE as QUALITY_RECORD
from qrspi.core.records.task_records import Reopened
from qrspi.core.rounds.loop import Loop
from qrspi.core.text.citations import parse
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.gates import quality
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More, stop
from qrspi.handlers.tasks import repairs
from qrspi.world.machine import clock


def at_batch_end(job: Job, key: str, more: More) -> ChangeSet:
    match key:
        case "continue":
            return approve.plan(job, "implement", Consent(more.who, True, text=more.text))
        case "rerun-reviews":
            return _rerun(job)
        case "fix":
            return _fix(job)
        case _:
            return stop("implement", job.next.round)


def _rerun(job: Job) -> ChangeSet:
    """Asked for in a file, so that the next command prepares the round."""
    number = job.round_loop.highest
    left = _settled(job.round_loop, "not applied, a person wants all of it reviewed again")
    data = f"---\nafter: {number}\n---\n".encode()
    edit = Edit("write", implement.RERUN, "all tasks are reviewed together", data)
    return ChangeSet("rerun-reviews", "implement", number, (*left, edit))


def _fix(job: Job) -> ChangeSet:
    """Findings about the whole go back to the task whose files they are about."""
    states = implement.everything(job.facts, batch.read(job.facts))
    findings = _by_task(job, job.round_loop, states)
    back = [task for task in states if task.state == "accepted-with-issues" or task.key in findings]
    if not back:
        raise Refusal(_nothing_open(job.run))
    keys = ", ".join(task.key for task in back)
    edits = (
        *(edit for task in back for edit in _reopened(task, findings.get(task.key, ()))),
        *_settled(job.round_loop, f"sent back to {keys}"),
    )
    return ChangeSet(
        "fix-batch",
        "implement",
        job.next.round,
        edits,
        message=change_set.message("send back tasks of", "implement", job.run),
        covers=tuple(edit.path for edit in edits),
        notes=(f"sent back: {keys}",),
    )


def _nothing_open(run: str) -> Problem:
    hint = f"qrspi resolve {run} rerun-reviews"
    text = (
        "nothing is open: no task was accepted with issues, and no review of the whole has "
        f"findings; `{hint}` asks for one"
    )
    return Problem("nothing-to-fix", text, hint=hint)


def _reopened(task: TaskState, findings: tuple[str, ...]) -> list[Edit]:
    record = Reopened(
        commit=task.report.commit if task.report else "",
        round=task.loop.highest if task.loop else 0,
        findings=findings,
        time=clock.now_utc(),
    )
    data = task_records.render_reopened(task.key, record)
    edits = [
        Edit("write", task_records.reopened_file(task.key), "sent back to its implementer", data)
    ]
    if task.outcome:
        edits.append(Edit("remove", task_records.outcome_file(task.key), "no longer accepted"))
    return edits


def _by_task(job: Job, loop: Loop, states: tuple[TaskState, ...]) -> dict[str, tuple[str, ...]]:
    """The files of the findings to be fixed. Findings that belong to no task go to the last one."""
    able = [task.key for task in states if task.commit and task.state != "skipped-by-user"]
    if loop.stage != "fixing" or not able:
        return {}
    known = task_file.read_all(job.workspace)[0]
    targets = {key: known[key].target_files for key in able if key in known}
    findings: dict[str, tuple[str, ...]] = {}
    for item in loop.to_apply:
        key = _owner(item.finding.referenced_files, targets) or able[-1]
        path = f"{loop.paths.directory}/{item.finding.file}"
        findings[key] = (*findings.get(key, ()), path)
    return findings


def _owner(cited: Iterable[str], targets: dict[str, tuple[str, ...]]) -> str:
    paths = tuple(place.path for place in map(parse, cited) if place)
    for key, files in targets.items():
        touched = {"finding": paths, key: tuple(map(task_file.plain_path, files))}
        if any(True for _ in parallelization.overlaps(touched)):
            return key
    return ""


def _settled(loop: Loop, what: str) -> tuple[Edit, ...]:
    if loop.stage != "fixing":
        return ()
    data = repairs.dispositions(loop, what)
    return (Edit("write", loop.paths.dispositions, "what became of the findings", data),)


def without_pass(job: Job, key: str, more: More) -> ChangeSet:
    tasks = job.next.missing
    if key == "refine":
        files = ", ".join(job.next.inputs)
        note = f"nothing was changed: edit {files}, then run `qrspi quality batch {job.run}`"
        return ChangeSet("refine", "implement", 0, (), notes=(note,))
    listed = ", ".join(tasks) if len(tasks) < 6 else f"{len(tasks)} tasks"
    message = f"docs(qrspi): proceed with {listed} for {slug_of(job.run)}"
    edits = quality.proceed(job, tasks, more.who)
    return ChangeSet(
        "proceed", "implement", 0, edits, message=message, covers=(QUALITY_RECORD,), concerns=tasks
    )
