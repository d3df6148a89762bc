"""Carry one thing out and put it on the trail, even when it could not be finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from qrspi.core.errors import Refusal
from qrspi.core.records import audit_trail
from qrspi.core.records.audit_trail import FILE, Line, Touched
from qrspi.core.tree import Fault
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import json_log
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace

Handler = Callable[[Job], Performed]


def carry_out(handler: Handler, job: Job) -> Performed:
    job.workspace.changes.clear()
    half = Performed(job.next.action, job.next.step or job.facts.step, job.next.round)
    with half_on_record(job, half):
        performed = handler(job)
    record(job.workspace, job.options.actor, performed)
    return performed


@contextmanager
def remembering(done: Sequence[Performed]) -> Iterator[None]:
    """A refusal tells what the command had done by then."""
    try:
        yield
    except Refusal as refusal:
        refusal.done = (*done, *refusal.done)
        raise


@contextmanager
def half_on_record(job: Job, half: Performed) -> Iterator[None]:
    try:
        yield
    except Refusal as refusal:
        # A full disk is reported once, in the words of the write that it stopped.
        with suppress(Refusal):
            if job.workspace.changes:
                outcome = f"stopped: {refusal.problem.message}"
                record(job.workspace, job.options.actor, half, outcome)
        raise


def record(workspace: Workspace, actor: str, performed: Performed, outcome: str = "done") -> None:
    """One line for one thing done; none when nothing changed since the last line. What is done
    first in a clone begins the trail, so that a trail that is missing was lost."""
    if workspace.changes or (performed.files and isinstance(workspace.tail(FILE, 1), Fault)):
        tell(workspace, actor, performed, outcome)


def tell(workspace: Workspace, actor: str, performed: Performed, outcome: str = "done") -> None:
    """The same for changes outside files with hashes, such as a row of a database."""
    changes = tuple(workspace.changes)
    workspace.changes.clear()
    line = Line(
        time=clock.now_utc(),
        actor=actor,
        event=performed.handler,
        step=performed.step,
        round=performed.round or None,
        files=tuple(Touched(*change) for change in changes),
        outcome=outcome,
        notes=performed.notes,
        who=performed.who,
        opened=performed.opened,
        answers=performed.answers,
    )
    workspace.append(FILE, json_log.encode(audit_trail.render(line)))
