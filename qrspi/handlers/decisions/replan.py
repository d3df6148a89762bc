"""Between two phases: open the plan for the next one, or go back to an earlier step.

`minor` resets statuses first and puts its word on record last; `major` does it the other way
round. Either way what a kill leaves says what is left to do.
"""

from __future__ import annotations

from qrspi.core.artifacts import task_file
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import MARKER, STEP
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import replanning
from qrspi.core.steps.facts import status_of
from qrspi.core.steps.replanning import TARGETS
from qrspi.core.tree import Fault
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job, Performed

REPLAN = STEP["replan"].artifact


def minor(job: Job, who: str = "") -> ChangeSet:
    """plan.md and the tasks still to be done are opened; a person approves them again."""
    _check(job)
    course = replanning.course(job.facts)
    if course.minor or course.major or course.archiving:
        raise Refusal(_chosen(job))
    _refuse_unknown_scope(job)
    opened = [edit for path in _remaining(job) if (edit := _opened(job, path))]
    record = Record("replan", *change_set.mark(job.workspace, "plan"), replan="minor")
    edits = (*opened, change_set.on_record(job, record, who))
    return ChangeSet(
        handler="replan-minor",
        step="replan",
        round=0,
        edits=edits,
        message=change_set.message("replan", "plan", job.run),
        covers=tuple(edit.path for edit in opened),
    )


def _check(job: Job) -> None:
    if MARKER in job.facts.names:
        return
    text = (
        f"no phase is finished: {MARKER} is not there; it appears when test is approved and "
        f"another phase follows. Next: {job.next.summary}"
    )
    raise Refusal(Problem("nothing-to-replan", text, MARKER, hint=job.next.command))


def _chosen(job: Job) -> Problem:
    text = f"that was chosen already. Next: {job.next.summary}"
    return Problem("already-chosen", text, hint=job.next.command)


def _refuse_unknown_scope(job: Job) -> None:
    data = job.workspace.read(REPLAN)
    if isinstance(data, Fault) or not replanning.names_unknown_scope(data):
        return
    hint = f"qrspi replan major {job.run} --to STEP"
    text = f"{REPLAN} classes a change as scope-unknown, which is a major one: `{hint}`"
    raise Refusal(Problem("major-change", text, REPLAN, found="scope-unknown", hint=hint))


def _remaining(job: Job) -> tuple[str, ...]:
    """The tasks of later phases, then the plan: what is finished is not opened."""
    done = frozenset(finished(job))
    keys = (key for key in task_file.keys(job.workspace) if key not in done)
    return (*(task_file.task_path(key) for key in keys), STEP["plan"].artifact)


def finished(job: Job) -> tuple[str, ...]:
    """The tasks of the phase that the marker says is done."""
    from qrspi.core.code_steps import batch

    number = replanning.finished_phase(job.workspace) or job.facts.phase
    found = batch.read(job.facts._replace(phase=number))
    return tuple(item.key for item in found.items)


def _opened(job: Job, path: str) -> Edit | None:
    return change_set.set_fields(
        job.workspace, path, {"status": "replan-draft"}, "status: replan-draft"
    )


def major(job: Job, to: str, who: str = "") -> ChangeSet:
    """The target returns to draft, then every later step; the marker goes last."""
    if to not in TARGETS:
        listed = ", ".join(TARGETS)
        text = f"{to!r} is no step to go back to; expected one of {listed}"
        raise Misuse(Problem("usage", text, "", "--to", to, listed))
    _check(job)
    course = replanning.course(job.facts)
    if course.archiving or (course.major and course.major.step != to):
        raise Refusal(_chosen(job))
    if to not in job.facts.route:
        listed = ", ".join(step for step in TARGETS if step in job.facts.route)
        text = f"{to} is no part of this run's route; expected one of {listed}"
        raise Refusal(Problem("not-in-route", text, "", "--to", to, listed))
    if course.major:
        return _rest(job, course.major, ())
    marks = tuple(change_set.mark(job.workspace, step) for step in _later(job, to))
    record = Record("rewind", *marks[0], resets=marks, replan="major")
    return _rest(job, record, (change_set.on_record(job, record, who),))


def _later(job: Job, to: str) -> tuple[str, ...]:
    after = job.facts.route[job.facts.route.index(to) :]
    return tuple(step for step in after if status_of(job.facts, step) != "missing")


def _rest(job: Job, record: Record, first: tuple[Edit, ...]) -> ChangeSet:
    marks: tuple[Mark, ...] = record.resets
    resets = [edit for mark in marks for edit in change_set.to_draft(job.workspace, mark.step)]
    edits = (*first, *resets, Edit("remove", MARKER, "the choice is carried out"))
    message = change_set.message("replan to", record.step, job.run)
    covers = (
        *(STEP[mark.step].artifact for mark in marks),
        *change_set.task_files(job.workspace),
        MARKER,
    )
    return ChangeSet("replan-major", record.step, record.round, edits, message, covers)


def handle(job: Job) -> Performed:
    """What a killed `replan major` left to do."""
    course = replanning.course(job.facts)
    assert course.major is not None  # this was derived from it
    done = change_set.carry_out(job, _rest(job, course.major, ())).performed
    job.workspace.changes.clear()  # they are on record
    return done
