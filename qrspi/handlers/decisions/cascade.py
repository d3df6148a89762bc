"""A quick run approves a clean questions, research or plan by itself.

In this order, each on disk before the next: the entry in the log, a sentinel for each reviewer,
`status: approved`, the record, the commit. A kill in between leaves an entry that the next
command takes for its own.
"""

from __future__ import annotations

from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import cascade_sentinel
from qrspi.core.model import Problem
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.steps import cascade_log as cascade
from qrspi.core.steps import cascade_recovery as repairs
from qrspi.core.steps import permits
from qrspi.core.steps.cascade_log import FILE, SURFACE, Entry
from qrspi.core.steps.cascade_recovery import Unrecorded
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.decisions import approve
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import json_log as applog
from qrspi.world.machine import clock

WHO = "qrspi"


def handle(job: Job) -> Performed:
    return _carry_out(job, plan(job))


def _carry_out(job: Job, move: Move) -> Performed:
    """A rehearsal writes to nowhere, and must not commit either."""
    if job.options.dry_run:
        job = job._replace(options=job.options._replace(no_commit=True))
    elif FILE not in move.files:
        job.workspace.settle(FILE)  # a killed command's entry need not be on the disk yet
    return moves.carry_out(job, move).performed


def plan(job: Job) -> Move:
    loop, step = job.round_loop, job.facts.step
    _check(job, loop)
    entry = repairs.entry(job.facts, loop)._replace(timestamp=clock.now_utc())
    edits = (*_log(job, entry), *_sentinels(entry), *approve.statuses(job, step))
    return Move(
        "cascade",
        step,
        loop.number,
        (*edits, _record(job, loop, entry)),
        moves.message("approve", step, job.run),
        approve.covered(job, step),
        notes=(f"{step} needs no person: {job.next.because[0]}",),
    )


def _check(job: Job, loop: Loop) -> None:
    """Once more, in the hand that writes: whatever led here, nothing else is ever approved so."""
    step, facts = job.facts.step, job.facts
    if step in permits.PERSONAL or step not in gate.CASCADING or step != loop.subject.key:
        raise RuntimeError(f"{step} is never approved without a person")
    if not gate.cascades(facts.tree, loop, facts.config, facts.base):
        raise RuntimeError(f"round {loop.number} of {step} does not approve it")


def _log(job: Job, entry: Entry) -> tuple[Edit, ...]:
    """None when a command that was killed wrote it, and nothing was decided about the step
    since."""
    _must_be_readable(job)
    known = cascade.read(job.workspace.read(FILE, cascade.LIMIT))
    mine = [found for found in known if found.artifact == entry.artifact][-1:]
    if mine and repairs.is_open(job.facts, mine[0], entry):
        return ()
    line = applog.encode(cascade.render(entry))
    what = f"{entry.artifact} approves itself after round {entry.trigger_round}"
    return (Edit("append", FILE, what, line),)


def _must_be_readable(job: Job) -> None:
    """A log that is half merged, or that is none, is put right by a person first."""
    for item in applog.read(job.workspace, FILE):
        if isinstance(item, Problem) and item.code in ("unreadable", "merge-conflict"):
            text = f"{item.message}; {job.facts.step} is not approved before"
            raise Halt(item._replace(message=text, hint=f"qrspi next {job.run}"))


def _sentinels(entry: Entry) -> tuple[Edit, ...]:
    return tuple(
        Edit(
            "write",
            cascade_sentinel(entry.artifact, tag),
            f"{tag} has nothing left",
            cascade.sentinel(entry, tag),
        )
        for tag in entry.reviewer_tags
    )


def _record(job: Job, loop: Loop, entry: Entry) -> Edit:
    """About the text that was reviewed; one that was saved meanwhile is not approved."""
    mark = records.mark(job.workspace, loop.subject.key)
    assert loop.manifest is not None
    if mark.body_hash != loop.manifest.body_hash:
        artifact = loop.subject.artifact
        text = f"{artifact} was changed by someone else meanwhile and is not approved"
        raise Refusal(Problem("changed-meanwhile", text, file=artifact))
    record = Record(
        "approve",
        *mark,
        who=WHO,
        when=clock.now_utc(),
        surface=SURFACE,
        note=f"{entry.rationale} in round {entry.trigger_round}",
    )
    what = f"approve {mark.step} by {WHO}"
    return Edit("append", approvals.FILE, what, approvals.render(record))


def unfinished(job: Job, *, ask_git: bool) -> bool:
    """Whether an earlier cascade, of whatever step, was cut off behind its approval."""
    if FILE not in job.facts.names:
        return False
    return repairs.unrecorded(job.facts) is not None or (ask_git and _uncommitted(job) != "")


def _uncommitted(job: Job) -> str:
    if job.options.dry_run or not moves.in_git(job):
        return ""
    steps = repairs.by_cascade(job.facts)
    return next((step for step in steps if approve.lacks_commit(job, step)), "")


def finish(job: Job) -> Performed:
    """What is left of a cascade that was cut off."""
    found = repairs.unrecorded(job.facts)
    if found:
        return handle(_as_seen_from(job, found))
    step = _uncommitted(job)
    number = records.mark(job.workspace, step).round
    text = moves.message("approve", step, job.run)
    note = f"the approval of {step} was not committed yet"
    move = Move("cascade", step, number, (), text, approve.covered(job, step), notes=(note,))
    return _carry_out(job, move)


def _as_seen_from(job: Job, found: Unrecorded) -> Job:
    review = gate.review_status(found.loop)[0]
    answer = job.next._replace(step=found.facts.step, round=found.loop.number, because=(review,))
    return job._replace(facts=found.facts, loop=found.loop, next=answer)
