"""The gate at the end of a batch: go on, have it all reviewed together, send it back, or stop."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import file_overlap as overlap
from qrspi.core.artifacts import task_file as tasks
from qrspi.core.code_steps import batch
from qrspi.core.code_steps import implement as delivery
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Reopened
from qrspi.core.rounds.loop import Loop
from qrspi.core.text.citations import parse
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.handlers.tasks import settle_task
from qrspi.world.machine import clock


def plan(job: Job, key: str, more: More) -> Move:
    match key:
        case "continue":
            return approve.plan(job, "implement", Consent(more.who, unreviewed=True))
        case "rerun-reviews":
            return _rerun(job)
        case "fix":
            return _fix(job)
        case _:
            note = "nothing was changed"
            return Move("stop", "implement", job.next.round, (), notes=(note,))


def _rerun(job: Job) -> Move:
    """Asked for in a file, so that whoever goes on next prepares the round."""
    loop = job.round_loop
    number = loop.highest
    left = _settled(loop, "not applied, a person wants all of it reviewed again")
    edit = Edit(
        "write",
        delivery.RERUN,
        "all tasks are reviewed together",
        f"---\nafter: {number}\n---\n".encode(),
    )
    return Move("rerun-reviews", "implement", number, (*left, edit))


def _fix(job: Job) -> Move:
    """Tasks with open issues go back to their implementers, and so does what the reviewers of
    the whole found, each finding to the task whose files it is about."""
    states = delivery.everything(job.facts, batch.read(job.facts))
    open_tasks = [task for task in states if task.state == "accepted-with-issues"]
    found = _assigned(job, job.round_loop, states)
    sent = [task for task in states if task in open_tasks or task.key in found]
    if not sent:
        text = (
            "nothing is open: no task was accepted with issues, and no review of the whole has "
            f"findings; `qrspi resolve {job.run} rerun-reviews` asks for one"
        )
        hint = f"qrspi resolve {job.run} rerun-reviews"
        raise Refusal(Problem("nothing-to-fix", text, hint=hint))
    edits = [edit for task in sent for edit in _reopened(task, found.get(task.key, ()))]
    keys = ", ".join(task.key for task in sent)
    note = f"sent back: {keys}"
    edits += _settled(job.round_loop, f"sent back to {keys}")
    message = moves.message("send back tasks of", "implement", job.run)
    covers = tuple(edit.path for edit in edits)
    number = job.next.round
    return Move("fix-batch", "implement", number, tuple(edits), message, covers, notes=(note,))


def _reopened(task: TaskState, findings: Iterable[str]) -> list[Edit]:
    commit = task.report.commit if task.report else ""
    number = task.loop.highest if task.loop else 0
    record = Reopened(commit, number, tuple(findings), clock.now_utc())
    data = taskfiles.render_reopened(task.key, record)
    what = "sent back to its implementer"
    edits = [Edit("write", taskfiles.reopened_file(task.key), what, data)]
    if task.outcome:
        edits.append(Edit("remove", taskfiles.outcome_file(task.key), "no longer accepted"))
    return edits


def _assigned(job: Job, loop: Loop, states: tuple[TaskState, ...]) -> dict[str, tuple[str, ...]]:
    if loop.stage != "fixing":
        return {}
    able = [task for task in states if task.commit and task.state != "skipped-by-user"]
    if not able:
        return {}
    known = tasks.read_all(job.workspace)[0]
    files = {task.key: known[task.key].target_files for task in able if task.key in known}
    found: dict[str, tuple[str, ...]] = {}
    for item in loop.to_apply:
        path = f"{loop.paths.directory}/{item.finding.file}"
        key = _owner(item.finding.referenced_files, files) or able[-1].key
        found[key] = (*found.get(key, ()), path)
    return found


def _owner(cited: Iterable[str], files: dict[str, tuple[str, ...]]) -> str:
    places = (parse(entry) for entry in cited)
    paths = [place.path for place in places if place]
    for key, own in files.items():
        touched = {"finding": tuple(paths), key: tuple(map(overlap.normal, own))}
        if any(True for _ in overlap.overlaps(touched)):
            return key
    return ""


def _settled(loop: Loop, what: str) -> list[Edit]:
    if loop.stage != "fixing":
        return []
    names = [item.finding.name for item in loop.to_apply]
    data = settle_task.dispositions(loop.number, names, what)
    return [Edit("write", loop.paths.dispositions, "what became of the findings", data)]
