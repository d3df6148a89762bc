"""The agents that a run waits for: their prompts as files, and how far each agent is."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.derivation.derive import survey
from qrspi.core.filenames import task_key
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.agents.assignments import (
    Assignment,
    Assignments,
    Unready,
    assignments,
    can_be_sent,
    not_awaited,
    unready,
)
from qrspi.handlers.agents.dispatch_options import AS_CONFIGURED, How
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents.dispatch_folder import broken_lines, read_records
from qrspi.world.files.json_log import move_aside
from qrspi.world.runs.workspace import Workspace


def write_prompts(job: Job) -> Performed:
    files = put(job, without_prompt(job))
    return Performed("write-prompts", job.next.step, job.next.round, files)


def without_prompt(job: Job) -> tuple[Assignment, ...]:
    ready = (one for each in _jobs(job) for one in assignments(each).ready)
    return tuple(one for one in ready if job.workspace.read(one.prompt_file) != one.prompt)


def _jobs(job: Job) -> tuple[Job, ...]:
    """The run, and each task whose reviewers may be sent at the same time."""
    keys = dict.fromkeys(ask.subject for ask in job.next.beside)
    return (job, *(_of_task(job, key) for key in keys))


def _of_task(job: Job, key: str) -> Job:
    from qrspi.handlers.tasks import reports

    task = reports.state_of(job, key)
    return job._replace(next=task.next or job.next, loop=task.loop)


def put(job: Job, wanted: Sequence[Assignment]) -> tuple[str, ...]:
    for one in wanted:
        job.workspace.write(one.prompt_file, one.prompt)
    return tuple(one.prompt_file for one in wanted)


def warnings(job: Job) -> tuple[Problem, ...]:
    return tuple(
        one.problem._replace(message=f"no prompt for {one.name}: {one.problem.message}")
        for one in unready(job)
    )


class Waiting(NamedTuple):
    name: str
    step: str
    round: int
    role: str = ""
    vendor: str = ""
    model: str = ""
    transport: str = ""
    prompt_file: str = ""  # run-relative
    state: str = "pending"  # of the last dispatch, if there was one
    problem: str = ""
    worker: str = ""  # the worker that has begun with it or answered; '' when it is sent from here


def line(workspace: Workspace, how: How = AS_CONFIGURED) -> tuple[Waiting, ...]:
    job = _job(workspace)
    return _line(job, how) if job and can_be_sent(job) else ()


def broken_logs(workspace: Workspace, awaited: Sequence[Waiting]) -> tuple[Problem, ...]:
    folders = dict.fromkeys(one.prompt_file.rpartition("/")[0] for one in awaited)
    return tuple(
        _with_way_out(workspace, problem)
        for folder in folders
        if folder
        for problem in broken_lines(workspace.path, folder)
    )


def _with_way_out(workspace: Workspace, problem: Problem) -> Problem:
    if problem.code != "unreadable":
        return problem
    move = move_aside(workspace.path, problem.file)
    text = f"{problem.message}, so nobody knows who was sent; to begin a new one: `{move}`"
    return problem._replace(message=text, hint=move)


def prompted(workspace: Workspace) -> tuple[Waiting, ...]:
    """Also agents that may draft what the run expects from a person."""
    job = _job(workspace)
    return _line(job, AS_CONFIGURED) if job else ()


def _line(job: Job, how: How) -> tuple[Waiting, ...]:
    known = [(each, _as_sent(each, how)) for each in _jobs(job)]
    return (
        *(_waiting(each, one) for each, found in known for one in found.ready),
        *(_blocked(each, one) for each, found in known for one in found.unready),
    )


def _as_sent(job: Job, how: How) -> Assignments:
    """An agent at a worker gets a different prompt from one that runs here."""
    found = assignments(job, how)
    away = {one.name for one in found.ready if _at_workers(job, one)}
    if not away or how.executor == "celery":
        return found
    there = {one.name: one for one in assignments(job, how._replace(executor="celery")).ready}
    ready = (there.get(one.name, one) if one.name in away else one for one in found.ready)
    return found._replace(ready=tuple(ready))


def _at_workers(job: Job, one: Assignment) -> bool:
    record = read_records(job.workspace.path, one.folder).get(one.name)
    return record is not None and record.state == "sent" and bool(record.ticket)


def order(workspace: Workspace, name: str) -> Assignment | Problem:
    job = _job(workspace)
    every = [assignments(each) for each in _jobs(job)] if job else [Assignments()]
    ready = [one for found in every for one in found.ready]
    exact = [one for one in ready if name in (one.ask.label, f"{one.step}/{one.name}")]
    found = exact or [one for one in ready if name in (one.name, one.ask.target)]
    if found:
        return found[0] if len(found) == 1 else _several(workspace.name, name, found)
    known = every[0]._replace(ready=tuple(ready))
    for missing in known.unready:
        if missing.name == name:
            return missing.problem
    return (job and _quality_reviewer(job, name)) or not_awaited(workspace.name, name, known)


def _several(run: str, name: str, found: Sequence[Assignment]) -> Problem:
    names = ", ".join(one.ask.label for one in found)
    text = f"several agents are called {name}: say which, one of {names}"
    hint = f"qrspi prompt {run} {found[0].ask.label}"
    return Problem("not-awaited", text, field="TAG", found=name, expected=names, hint=hint)


def _quality_reviewer(job: Job, name: str) -> Assignment | Problem | None:
    key = task_key(name)
    if key is None or key not in _unjudged(job):
        return None
    found = _quality_reviewers(job, (key,))
    return found.ready[0] if found.ready else found.unready[0].problem


def quality_reviewers(workspace: Workspace) -> tuple[Waiting, ...]:
    job = _job(workspace)
    if job is None:
        return ()
    return tuple(_waiting(job, one) for one in _quality_reviewers(job, _unjudged(job)).ready)


def _unjudged(job: Job) -> tuple[str, ...]:
    from qrspi.core.gates.quality import quality_gate

    return quality_gate.waiting_tasks(job.workspace, job.facts.tasks)


def _quality_reviewers(job: Job, keys: tuple[str, ...]) -> Assignments:
    from qrspi.core.gates.quality.quality_gate import asked

    asking = job.next._replace(round=0, asks=tuple(map(asked, keys)))
    return assignments(job._replace(next=asking, loop=None))


def _job(workspace: Workspace) -> Job | None:
    found = survey(workspace)
    return Job.of(workspace, found, Options()) if found.facts else None


def _waiting(job: Job, one: Assignment) -> Waiting:
    record = read_records(job.workspace.path, one.folder).get(one.name)
    if record and one.question(job.run) not in (record.job_id, record.question):
        record = None  # of another question
    return Waiting(
        name=one.ask.label,
        step=one.step,
        round=one.round,
        role=one.role.name,
        vendor=one.model.vendor if one.model else "",
        model=one.model.model if one.model else "",
        transport=one.means.transport,
        prompt_file=one.prompt_file,
        state=record.progress if record else "pending",
        problem=record.problem if record else "",
        worker=record.worker if record else "",
    )


def _blocked(job: Job, one: Unready) -> Waiting:
    return Waiting(
        one.name, job.next.step, job.next.round, state="blocked", problem=one.problem.message
    )
