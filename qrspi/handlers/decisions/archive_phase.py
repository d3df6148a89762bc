"""Put a finished phase away: its reviews, its tasks and its records move to `phases/phase-NN/`.

The word that this is being done goes on record first and the marker is deleted last, so a kill
in between leaves a run that says what is going on. A move whose source is gone was made already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.branch_map import FILE as PARALLELIZATION
from qrspi.core.code_steps.pull_request import FILE as PULL_REQUEST
from qrspi.core.errors import Halt
from qrspi.core.filenames import ends_with_phase, phase_folder, slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import MARKER, STEP, subject_of
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.steps import replanning
from qrspi.core.tree import Fault, entries
from qrspi.handlers.changes import change_set, engine_files
from qrspi.handlers.decisions import replan
from qrspi.handlers.jobs.job import Job, Performed

_AGAIN = ("parallelize", "implement", "integrate", "test")
_FOLDERS = ("parallelize", "tasks", "integration", "ci", "test", "replan")
_RECORDS = ("implement", "integrate", "test")


def handle(job: Job) -> Performed:
    number = replanning.finished_phase(job.workspace) or job.facts.phase
    for step in steps(job, number):
        step()
    return Performed("archive-phase", "replan", number, (phase_folder(number),))


def steps(job: Job, number: int) -> list[Callable[[], object]]:
    """What there is to do, in order. A kill leaves it half done, and all of it can be repeated."""
    home = phase_folder(number)

    def away(path: str) -> Callable[[], object]:
        return partial(job.workspace.move, path, f"{home}/{path}")

    finished = map(task_file.task_path, replan.finished(job))
    records_away = (STEP[step].artifact for step in _RECORDS)
    return [
        partial(_announce, job, number),
        *map(away, (*_reviews(job), *finished, "fixes", replan.REPLAN)),
        partial(_keep_parallelization, job, home),
        *map(away, (PULL_REQUEST, *records_away)),
        partial(_open_parallelization, job),
        partial(_restate_plan, job, number),
        partial(_commit, job, _ALL, f"archive phase {number}"),
        partial(job.workspace.remove, MARKER),
        partial(_commit, job, (), f"begin phase {number + 1}"),
    ]


def _announce(job: Job, number: int) -> None:
    """Once: rounds of what is put away count from 01 again, and the old texts are not the new."""
    if any(record.event == "phase" and record.phase == number for record in job.facts.records):
        return
    steps = ("replan", *(step for step in _AGAIN if step in job.facts.route))
    about, *marks = (change_set.mark(job.workspace, step)._replace(round=0) for step in steps)
    line = change_set.on_record(job, Record("phase", *about, resets=tuple(marks), phase=number))
    job.workspace.append(approvals.FILE, line.data)


def _reviews(job: Job) -> list[str]:
    names = (entry.name for entry in entries(job.workspace, "reviews"))
    return [f"reviews/{name}" for name in names if name in _FOLDERS or ends_with_phase(name)]


def _keep_parallelization(job: Job, home: str) -> None:
    """A copy of the file that this phase was built from; the next phase gets a new one."""
    data = job.workspace.read(PARALLELIZATION)
    if not isinstance(data, Fault) and "parallelize" in job.facts.route:
        job.workspace.write(f"{home}/{PARALLELIZATION}", data)


def _open_parallelization(job: Job) -> None:
    if "parallelize" not in job.facts.route:
        return
    for edit in change_set.to_draft(job.workspace, "parallelize"):
        job.workspace.replace(edit.path, edit.old, edit.data)


def _restate_plan(job: Job, number: int) -> None:
    """The plan's text is smaller by the tasks that were put away; nobody edited it."""
    found = approvals.read(job.workspace.read(approvals.FILE, approvals.LIMIT))
    if isinstance(found, Problem):
        raise Halt(found)
    known = approvals.newest(found, "plan")
    now = change_set.mark(job.workspace, "plan")
    if known is None or known.event != "approve" or _is_text(job, known.body_hash):
        return
    note = f"phase {number} was put away with its tasks"
    line = change_set.on_record_for(job, Record("approve", *now, note=note), known.who)
    job.workspace.append(approvals.FILE, line.data)


def _is_text(job: Job, body_hash: str) -> bool:
    return step_text.is_unchanged(job.workspace, subject_of("plan"), body_hash)


_ALL = (
    *("phases", "reviews", "tasks", "fixes", PARALLELIZATION),
    *(replan.REPLAN, PULL_REQUEST, *(STEP[step].artifact for step in _RECORDS)),
)


def _commit(job: Job, paths: Sequence[str], what: str) -> None:
    engine_files.commit(job, paths, f"{what} of {slug_of(job.run)}")
