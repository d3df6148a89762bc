"""Between two phases: open the plan for the next one, or go back to an earlier step.

`minor` resets statuses first and writes its record last, `major` the other way round: so what a
kill leaves shows what is left to do. A finished phase moves to `phases/phase-NN/`. Its record
announces that first, the marker is deleted last, and a move without a source was made already.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.branch_map import FILE as PARALLELIZATION
from qrspi.core.code_steps.shipping import PULL_REQUEST
from qrspi.core.errors import Halt, Misuse, Refusal
from qrspi.core.filenames import ends_with_phase, phase_folder
from qrspi.core.model import Problem
from qrspi.core.pipeline import MARKER, STEP, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Mark, Record
from qrspi.core.steps import replanning
from qrspi.core.steps.facts import status_of
from qrspi.core.steps.replanning import TARGETS
from qrspi.core.tree import Fault, entries
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job, Performed

REPLAN = STEP["replan"].artifact


def minor(job: Job, who: str = "") -> ChangeSet:
    _check(job)
    course = replanning.course(job.facts)
    if course.minor or course.major or course.archiving:
        raise Refusal(_chosen(job))
    _refuse_unknown_scope(job)
    tree, draft = job.workspace, {"status": "replan-draft"}
    edits = (
        change_set.set_fields(tree, path, draft, "status: replan-draft") for path in _remaining(job)
    )
    opened = [edit for edit in edits if edit]
    record = Record("replan", *change_set.mark(job.workspace, "plan"), replan="minor")
    return ChangeSet(
        handler="replan-minor",
        step="replan",
        round=0,
        edits=(*opened, change_set.on_record(job, record, who)),
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
    raise Refusal(Problem("nothing-to-replan", text, MARKER, hint=job.next.hint(job.run)))


def _chosen(job: Job) -> Problem:
    text = f"that was chosen already. Next: {job.next.summary}"
    return Problem("already-chosen", text, hint=job.next.hint(job.run))


def _refuse_unknown_scope(job: Job) -> None:
    data = job.workspace.read(REPLAN)
    if isinstance(data, Fault) or not replanning.names_unknown_scope(data):
        return
    hint = f"qrspi replan major {job.run} --to STEP"
    text = f"{REPLAN} classes a change as scope-unknown, which is a major one: `{hint}`"
    raise Refusal(Problem("major-change", text, REPLAN, found="scope-unknown", hint=hint))


def _remaining(job: Job) -> tuple[str, ...]:
    """The tasks of later phases, then the plan. Finished tasks are not opened."""
    ended = frozenset(finished(job))
    keys = (key for key in task_file.read_keys(job.workspace) if key not in ended)
    return (*(task_file.task_path(key) for key in keys), STEP["plan"].artifact)


def finished(job: Job) -> tuple[str, ...]:
    from qrspi.core.code_steps import batch

    number = replanning.finished_phase(job.workspace) or job.facts.phase
    due = batch.read(job.facts._replace(phase=number))
    return tuple(item.key for item in due.items)


def major(job: Job, to: str, who: str = "") -> ChangeSet:
    """The target returns to draft, then every later step; the marker goes last."""
    if to not in TARGETS:
        listed = ", ".join(TARGETS)
        text = f"{to!r} is not a step to go back to; expected one of {listed}"
        raise Misuse(Problem("usage", text, field="--to", found=to, expected=listed))
    _check(job)
    course = replanning.course(job.facts)
    if course.archiving or (course.major and course.major.step != to):
        raise Refusal(_chosen(job))
    if to not in job.facts.route:
        listed = ", ".join(step for step in TARGETS if step in job.facts.route)
        text = f"{to} is no part of this run's route; expected one of {listed}"
        raise Refusal(Problem("not-in-route", text, field="--to", found=to, expected=listed))
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
    return ChangeSet(
        "replan-major", record.step, record.round, edits, message=message, covers=covers
    )


def handle(job: Job) -> Performed:
    course = replanning.course(job.facts)
    assert course.major is not None  # this was derived from it
    performed = change_set.carry_out(job, _rest(job, course.major, ())).performed
    job.workspace.changes.clear()  # they are on record
    return performed


_AGAIN = ("parallelize", "implement", "integrate", "test")
_FOLDERS = ("parallelize", "tasks", "integration", "ci", "test", "replan")
_RECORDS = ("implement", "integrate", "test")


def archive_phase(job: Job) -> Performed:
    number = replanning.finished_phase(job.workspace) or job.facts.phase
    for step in archive_steps(job, number):
        step()
    return Performed("archive-phase", "replan", number, (phase_folder(number),))


def archive_steps(job: Job, number: int) -> list[Callable[[], object]]:
    """What there is to do, in order. A kill leaves it half done; every part can be repeated."""
    home = phase_folder(number)

    def away(path: str) -> Callable[[], object]:
        return partial(job.workspace.move, path, f"{home}/{path}")

    tasks = map(task_file.task_path, finished(job))
    records_away = (STEP[step].artifact for step in _RECORDS)
    return [
        partial(_announce, job, number),
        *map(away, (*_reviews(job), *tasks, "fixes", REPLAN)),
        partial(_keep_parallelization, job, home),
        *map(away, (PULL_REQUEST, *records_away)),
        partial(_open_parallelization, job),
        partial(_restate_plan, job, number),
        partial(change_set.commit_files, job, _ALL, f"archive phase {number}", "of"),
        partial(job.workspace.remove, MARKER),
        partial(change_set.commit_files, job, (), f"begin phase {number + 1}", "of"),
    ]


def _announce(job: Job, number: int) -> None:
    """Steps that are put away count their rounds from 01 again. Written once."""
    if any(record.event == "phase" and record.phase == number for record in job.facts.records):
        return
    steps = ("replan", *(step for step in _AGAIN if step in job.facts.route))
    mark, *marks = (change_set.mark(job.workspace, step)._replace(round=0) for step in steps)
    line = change_set.on_record(job, Record("phase", *mark, resets=tuple(marks), phase=number))
    job.workspace.append(approvals.FILE, line.data)


def _reviews(job: Job) -> list[str]:
    names = (entry.name for entry in entries(job.workspace, "reviews"))
    return [f"reviews/{name}" for name in names if name in _FOLDERS or ends_with_phase(name)]


def _keep_parallelization(job: Job, home: str) -> None:
    data = job.workspace.read(PARALLELIZATION)
    if not isinstance(data, Fault) and "parallelize" in job.facts.route:
        job.workspace.write(f"{home}/{PARALLELIZATION}", data)


def _open_parallelization(job: Job) -> None:
    if "parallelize" not in job.facts.route:
        return
    for edit in change_set.to_draft(job.workspace, "parallelize"):
        job.workspace.replace(edit.path, edit.old, edit.data)


def _restate_plan(job: Job, number: int) -> None:
    """The plan's text shrinks by the tasks that were put away; nobody edited it."""
    records = approvals.read(job.workspace.read(approvals.FILE, approvals.LIMIT))
    if isinstance(records, Problem):
        raise Halt(records)
    known = approvals.newest(records, "plan")
    mark = change_set.mark(job.workspace, "plan")
    if known is None or known.event != "approve":
        return
    if step_text.is_unchanged(job.workspace, subject_of("plan"), known.body_hash):
        return
    note = f"phase {number} was put away with its tasks"
    line = change_set.on_record_for(job, Record("approve", *mark, note=note), known.who)
    job.workspace.append(approvals.FILE, line.data)


_ALL = (
    *("phases", "reviews", "tasks", "fixes", PARALLELIZATION),
    *(REPLAN, PULL_REQUEST, *(STEP[step].artifact for step in _RECORDS)),
)
