"""A quick run approves a clean questions, research or plan by itself.

In this order, each on disk before the next: the entry in the log, a sentinel for each reviewer,
`status: approved`, the record, the commit. A kill in between leaves an entry that the next command
recognises as its own.
"""

from __future__ import annotations

from qrspi.core.errors import Halt, Refusal, refused
from qrspi.core.filenames import cascade_sentinel
from qrspi.core.model import Problem
from qrspi.core.records import approvals, step_text
from qrspi.core.records.approvals import Record
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round, permits
from qrspi.core.steps import cascade as cascades
from qrspi.core.steps.cascade import FILE, SURFACE, CascadeEntry, Unrecorded
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import approve
from qrspi.handlers.gates import audit
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import json_log
from qrspi.world.machine import clock

WHO = "qrspi"


def handle(job: Job) -> Performed:
    """If the audit report would now say something else, the plan is audited again instead."""
    if job.facts.step == "plan" and audit.is_outdated(job):
        return audit.handle(job)
    return _carry_out(job, plan(job))


def _carry_out(job: Job, change: ChangeSet) -> Performed:
    """A rehearsal writes nothing, and must not commit either."""
    if job.options.dry_run:
        job = job._replace(options=job.options._replace(no_commit=True))
    elif FILE not in change.files:
        job.workspace.settle(FILE)  # a killed command's entry may not be on the disk yet
    return change_set.carry_out(job, change).performed


def plan(job: Job) -> ChangeSet:
    loop, step = job.round_loop, job.facts.step
    _check(job, loop)
    entry = cascades.entry(job.facts, loop)._replace(timestamp=clock.now_utc())
    edits = (*_log(job, entry), *_sentinels(entry), *approve.statuses(job, step))
    return ChangeSet(
        handler="cascade",
        step=step,
        round=loop.round,
        edits=(*edits, _record(job, loop, entry)),
        message=change_set.message("approve", step, job.run),
        covers=approve.covered(job, step),
        notes=(f"{step} needs no person: {job.next.because[0]}", *approve.notes(job, step)),
    )


def _check(job: Job, loop: Loop) -> None:
    """Checked once more just before it is written: nothing else is approved without a person."""
    step, facts = job.facts.step, job.facts
    if step in permits.PERSONAL or step not in after_round.CASCADING or step != loop.subject.key:
        raise RuntimeError(f"{step} is never approved without a person")
    if not after_round.cascades(facts, loop):
        raise RuntimeError(f"round {loop.round} of {step} does not approve it")


def _log(job: Job, entry: CascadeEntry) -> tuple[Edit, ...]:
    """None when a killed command wrote the entry and nothing was decided about the step since."""
    _must_be_merged(job)
    known = cascades.read(job.workspace.read(FILE, cascades.LIMIT))
    if isinstance(known, Problem):
        raise refused(known)
    mine = [logged for logged in known if logged.artifact == entry.artifact][-1:]
    if mine and cascades.is_open(job.facts, mine[0], entry):
        return ()
    line = json_log.encode(cascades.render(entry))
    what = f"{entry.artifact} approves itself after round {entry.trigger_round}"
    return (Edit("append", FILE, what, line),)


def _must_be_merged(job: Job) -> None:
    for item in json_log.read(job.workspace, FILE):
        if isinstance(item, Problem) and item.code == "merge-conflict":
            text = f"{item.message}; {job.facts.step} is not approved before"
            raise Halt(item._replace(message=text, hint=f"qrspi next {job.run}"))


def _sentinels(entry: CascadeEntry) -> tuple[Edit, ...]:
    return tuple(
        Edit(
            "write",
            cascade_sentinel(entry.artifact, tag),
            f"{tag} has nothing left",
            cascades.sentinel(entry, tag),
        )
        for tag in entry.reviewer_tags
    )


def _record(job: Job, loop: Loop, entry: CascadeEntry) -> Edit:
    """About the text that was reviewed. A text that was saved meanwhile is not approved."""
    mark = change_set.mark(job.workspace, loop.subject.key)
    assert loop.manifest is not None
    if not step_text.is_unchanged(job.workspace, loop.subject, loop.manifest.body_hash):
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
    record = change_set.on_route(job.workspace, record)
    return Edit("append", approvals.FILE, what, approvals.render(record))


def unfinished(job: Job, *, ask_git: bool) -> bool:
    return _unrecorded(job) is not None or (ask_git and _uncommitted(job) != "")


def _unrecorded(job: Job) -> Unrecorded | None:
    missing = cascades.unrecorded(job.facts)
    if isinstance(missing, Problem):
        raise refused(missing)
    return missing


def _uncommitted(job: Job) -> str:
    if job.options.dry_run or not change_set.in_git(job):
        return ""
    return next(iter(approve.uncommitted(job, cascades.by_cascade(job.facts))), "")


def finish(job: Job) -> Performed:
    missing = _unrecorded(job)
    if missing:
        return handle(_as_seen_from(job, missing))
    step = _uncommitted(job)
    change = ChangeSet(
        handler="cascade",
        step=step,
        round=change_set.mark(job.workspace, step).round,
        edits=(),
        message=change_set.message("approve", step, job.run),
        covers=approve.covered(job, step),
        notes=(f"the approval of {step} was not committed yet",),
    )
    return _carry_out(job, change)


def _as_seen_from(job: Job, missing: Unrecorded) -> Job:
    review = after_round.review_status(missing.loop)[0]
    answer = job.next._replace(step=missing.facts.step, round=missing.loop.round, because=(review,))
    return job._replace(facts=missing.facts, loop=missing.loop, next=answer)
