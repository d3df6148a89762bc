"""Who a run waits for, for those who only look."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.agents.dispatch_record import Record
from qrspi.core.derivation.derive import survey
from qrspi.core.model import Problem
from qrspi.handlers.agents.assignments import Order, Orders, not_awaited, orders
from qrspi.handlers.agents.dispatch_options import AS_CONFIGURED, How
from qrspi.handlers.jobs.job import Job
from qrspi.world.agents.dispatch_folder import read_records
from qrspi.world.runs.workspace import Workspace


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


def line(workspace: Workspace, how: How = AS_CONFIGURED) -> tuple[Waiting, ...]:
    """Everybody the next action names; last those who cannot be told what to do."""
    job = _job(workspace)
    if job is None or job.next.who != "agent":
        return ()
    found = orders(job, how)
    blocked = tuple(_unready(job, one.name, one.problem) for one in found.unready)
    return (*(_waiting(job, one) for one in found.ready), *blocked)


def order(workspace: Workspace, name: str) -> Order | Problem:
    """What one of them is to be told."""
    job = _job(workspace)
    found = orders(job) if job else Orders()
    for one in found.ready:
        if name == one.label:
            return one
    for missing in found.unready:
        if missing.name == name:
            return missing.problem
    return not_awaited(workspace.name, name, found)


def _job(workspace: Workspace) -> Job | None:
    found = survey(workspace)
    if found.facts is None:
        return None
    return Job(workspace, found.facts, found.loop, found.state.next)


def _waiting(job: Job, one: Order) -> Waiting:
    record = read_records(job.workspace.path, one.folder).get(one.name)
    same = record is not None and record.job_id == one.job_id(job.run)
    return Waiting(
        one.label,
        one.step,
        one.round,
        one.role.name,
        one.model.vendor if one.model else "",
        one.model.model if one.model else "",
        one.means.transport,
        one.prompt_file,
        *_how_far(record if same else None),
    )


def _how_far(record: Record | None) -> tuple[str, str]:
    return (record.state, record.problem) if record else ("pending", "")


def _unready(job: Job, name: str, problem: Problem) -> Waiting:
    return Waiting(name, job.next.step, job.next.round, state="blocked", problem=problem.message)
