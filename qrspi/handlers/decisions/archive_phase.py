"""Put a finished phase away: its reviews, its tasks and its records move to `phases/phase-NN/`.

The word that this is being done goes on record first and the marker is deleted last, so a kill
in between leaves a run that says what is going on. A move whose source is gone was made already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from qrspi.core.artifacts import task_file as tasks
from qrspi.core.artifacts.branch_map import FILE as PARALLELIZATION
from qrspi.core.code_steps import pull_request as pullrequest
from qrspi.core.filenames import slug_of
from qrspi.core.pipeline import MARKER, STEP
from qrspi.core.records import approvals
from qrspi.core.steps import replanning
from qrspi.core.steps.facts import entries
from qrspi.core.tree import Fault
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes import engine_files as owned
from qrspi.handlers.decisions import replan
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.git import commits, repository

_AGAIN = ("parallelize", "implement", "integrate", "test")
_FOLDERS = ("parallelize", "tasks", "integration", "ci", "test", "replan")
_BESIDE = re.compile(
    r"(?:parallelize|implement|implement-gate|integrate|test|replan|task-\d{2,}[a-z]?"
    r"|(?:integration|ci|test)-round-\d{2,})(?:-loop-(?:pause|escape)-round-\d{2,}\.md)?"
    r"|baseline(?:-failures)?\.(?:md|log)"
)
# The later ones first: while an earlier one is still there the run does not stand before it.
_RECORDS = ("test", "integrate", "implement")


def handle(job: Job) -> Performed:
    number = replanning.finished_phase(job.workspace) or job.facts.phase
    for step in steps(job, number):
        step()
    return Performed("archive-phase", "replan", number, (_home(number),))


def _home(number: int) -> str:
    return f"phases/phase-{number:02d}"


def steps(job: Job, number: int) -> list[Callable[[], object]]:
    """What there is to do, in order: a kill leaves a beginning of it, and all of it can be done
    again."""
    home = _home(number)

    def away(path: str) -> Callable[[], object]:
        return partial(job.workspace.move, path, f"{home}/{path}")

    finished = map(tasks.task_path, replan.finished(job))
    records_away = (STEP[step].artifact for step in _RECORDS)
    return [
        partial(_announce, job, number),
        *map(away, (*_reviews(job), *finished, "fixes", replan.REPLAN)),
        partial(_keep_parallelization, job, home),
        *map(away, (pullrequest.FILE, *records_away)),
        partial(_open_parallelization, job),
        partial(_restate_plan, job, number),
        partial(_commit, job, _ALL, f"archive phase {number}"),
        partial(job.workspace.remove, MARKER),
        partial(_commit, job, (), f"begin phase {number + 1}"),
    ]


def _announce(job: Job, number: int) -> None:
    """Once: rounds of what is put away count from 01 again, and the old texts are not the new."""
    note = f"phase {number}"
    if any(record.event == "phase" and record.note == note for record in job.facts.records):
        return
    steps = ("replan", *(step for step in _AGAIN if step in job.facts.route))
    about, *marks = (records.mark(job.workspace, step)._replace(round=0) for step in steps)
    line = records.line(job, "phase", about, "", resets=tuple(marks), note=note)
    job.workspace.append(approvals.FILE, line.data)


def _reviews(job: Job) -> list[str]:
    names = (entry.name for entry in entries(job.workspace, "reviews"))
    return [f"reviews/{name}" for name in names if name in _FOLDERS or _BESIDE.fullmatch(name)]


def _keep_parallelization(job: Job, home: str) -> None:
    """A copy of what this phase was built by; the file itself is written anew for the next."""
    data = job.workspace.read(PARALLELIZATION)
    if not isinstance(data, Fault) and "parallelize" in job.facts.route:
        job.workspace.write(f"{home}/{PARALLELIZATION}", data)


def _open_parallelization(job: Job) -> None:
    if "parallelize" not in job.facts.route:
        return
    for edit in moves.to_draft(job.workspace, "parallelize"):
        job.workspace.replace(edit.path, edit.old, edit.data)


def _restate_plan(job: Job, number: int) -> None:
    """The plan's text is smaller by the tasks that were put away; nobody edited it."""
    known = approvals.newest(approvals.read(job.workspace.read(approvals.FILE)), "plan")
    now = records.mark(job.workspace, "plan")
    if known is None or known.event != "approve" or known.body_hash == now.body_hash:
        return
    note = f"phase {number} was put away with its tasks"
    line = records.line(job, "approve", now, known.who, note=note)
    job.workspace.append(approvals.FILE, line.data)


_ALL = (
    *("phases", "reviews", "tasks", "fixes", PARALLELIZATION),
    *(replan.REPLAN, pullrequest.FILE, *(STEP[step].artifact for step in _RECORDS)),
)


def _commit(job: Job, paths: Sequence[str], what: str) -> None:
    repo = repository.find(job.workspace.path)
    if repo is None or job.options.no_commit:
        return
    files = (*paths, *owned.changed(job.workspace, repo))
    commits.commit(repo, files, f"docs(qrspi): {what} of {slug_of(job.run)}")
