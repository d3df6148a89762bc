"""Back to an earlier step: it and every later approved step return to draft. Or take back the
approval of one step alone.

The record comes first and names each text that is taken back, so that after a kill the same command
finds what is left to do. The round that is abandoned is flagged before anything is reset.
"""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.errors import Refusal, accepted
from qrspi.core.filenames import RoundPaths, flagged_round, loop_choice, pause_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records.approvals import MadeFrom, Mark, Record
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import permits, research_sources
from qrspi.core.tree import Fault, entries
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import reject
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.rounds import loop_choice as choose_loop


def plan(
    job: Job, target: str, who: str = "", finding: str = "", words: bytes | None = None
) -> ChangeSet:
    """`finding` is the reason for a loop back; `words` are a person's, for the author."""
    if unfinished := half_done(job, target):
        return _rest(job, unfinished)
    if problem := permits.rewind(job.facts, target) or _odd_words(job, target, words):
        raise Refusal(problem)
    steps = permits.reset_by_rewind(job.facts, target)
    marks = tuple(change_set.mark(job.workspace, step) for step in steps)
    edits: tuple[Edit, ...] = ()
    path = ""
    if words:
        path, edits = reject.feedback_edits(job, target, words, marks[0].round)
    record = Record(
        "rewind",
        *marks[0],
        resets=marks,
        feedback=path,
        finding=finding,
        made=_made(job, steps),
    )
    left = _leave_round(job, finding)
    decided = (*_about_finding(job, finding, left), record)
    line = change_set.signed(job.workspace, job.options.actor, decided, who)
    change = _change(job, marks, (*edits, line, *left), _resets(job, marks))
    return _with_feedback(change, record)


def _odd_words(job: Job, target: str, words: bytes | None) -> Problem | None:
    hint = f"qrspi rewind {job.run} --to {target} -m TEXT"
    return reject.bad_words(job, target, words, hint) if words is not None else None


def _with_feedback(change: ChangeSet, record: Record) -> ChangeSet:
    if not record.feedback:
        return change
    return change._replace(covers=(*change.covers, record.feedback))


def _made(job: Job, steps: Iterable[str]) -> tuple[MadeFrom, ...]:
    taken_back = not research_sources.STEPS.isdisjoint(steps)
    return research_sources.made(job.workspace) if taken_back else ()


def _about_finding(job: Job, finding: str, left: tuple[Edit, ...]) -> tuple[Record, ...]:
    if not finding or job.loop is None:
        return ()
    edit = next((edit for edit in left if edit.data), None)
    record = change_set.decision(job, "decide", job.loop.subject.key, job.loop.round, edit)
    return (record._replace(finding=finding, option="loop-back"),)


def half_done(job: Job, target: str) -> Record | None:
    """The one that a killed command began. Steps approved since belong to another rewind."""
    record = next((r for r in reversed(job.facts.records) if r.mark(target)), None)
    if record is None or record.event != "rewind" or record.step != target:
        return None
    wanted = permits.reset_by_rewind(job.facts, target)
    left = [step for step in wanted if _is_meant(job, record, step)]
    if target in wanted:
        return record if left == list(wanted) else None
    return record if left or _lacks_more(job, record) else None


def _is_meant(job: Job, record: Record, step: str) -> bool:
    """Whether the record is the step's newest and about the text that it has."""
    named = any(mark.step == step for mark in record.resets)
    return named and change_set.is_newest_record(
        job, "rewind", change_set.mark(job.workspace, step)
    )


def _lacks_more(job: Job, record: Record) -> bool:
    meant = [mark.step for mark in record.resets if _is_meant(job, record, mark.step)]
    tasks = "plan" in meant and change_set.to_draft(job.workspace, "plan")
    return bool(tasks or change_set.uncommitted(job, meant, approved=False))


def _rest(job: Job, record: Record) -> ChangeSet:
    """Until the target is reset, the abandoned round is the current step's."""
    at_target = job.facts.statuses[record.step] == "draft"
    left = () if at_target else _leave_round(job, record.finding)
    marks = tuple(mark for mark in record.resets if _is_meant(job, record, mark.step))
    return _with_feedback(_change(job, record.resets, left, _resets(job, marks)), record)


def _resets(job: Job, marks: tuple[Mark, ...]) -> tuple[Edit, ...]:
    """The target first: from then on the run stands there."""
    return tuple(edit for mark in marks for edit in change_set.to_draft(job.workspace, mark.step))


def open_round(job: Job) -> Loop | None:
    loop = job.loop
    return loop if loop and loop.round and loop.stage not in ("none", "closed") else None


def _leave_round(job: Job, finding: str) -> tuple[Edit, ...]:
    """The flag tells the next round of the step that its base has changed."""
    loop = open_round(job)
    if loop is None:
        return _forget_cap(job)
    there = job.workspace.head(loop.paths.flag)
    flag = Edit("write", loop.paths.flag, "this round is left")
    flags = (flag,) if isinstance(there, Fault) else ()
    return (*flags, *_decided(job, loop, finding))


def _decided(job: Job, loop: Loop, finding: str) -> tuple[Edit, ...]:
    path = pause_file(loop.subject.key, loop.round)
    data = job.workspace.read(path)
    if not finding or isinstance(data, Fault):
        return ()
    changed = accepted(pauses.decide(data, {finding: "loop-back"}, path, loop.triaged))
    what = f"{finding}: loop-back"
    return () if changed == data else (Edit("replace", path, what, changed, data),)


def _forget_cap(job: Job) -> tuple[Edit, ...]:
    """A loop that stopped at its cap starts again when its turn comes."""
    if job.next.kind not in ("cap", "escape") or job.loop is None:
        return ()
    reviews, number = job.loop.subject.reviews, job.loop.round
    data = choose_loop.text(job.workspace, reviews, {"caps_from": str(number)})
    return (Edit("write", loop_choice(reviews), f"caps_from: {number}", data),)


def _change(
    job: Job, marks: tuple[Mark, ...], first: tuple[Edit, ...], resets: tuple[Edit, ...]
) -> ChangeSet:
    tree, target = job.workspace, marks[0].step
    steps = (mark.step for mark in marks)
    artifacts = (path for step in steps for path in change_set.approved_together(tree, step))
    return ChangeSet(
        handler="rewind",
        step=target,
        round=marks[0].round,
        edits=(*first, *resets),
        message=change_set.message("rewind to", target, job.run),
        covers=(*artifacts, *_left(job)),
        otherwise=permits.rewind(job.facts, target),
        concerns=tuple(edit.path for edit in resets),
    )


def _left(job: Job) -> tuple[str, ...]:
    """The files of abandoned rounds, so that a clone finds those rounds abandoned, not absent."""
    loop = open_round(job)
    paths = {loop.paths} if loop else set()
    for step in job.facts.route:
        names = (entry.name for entry in entries(job.workspace, STEP[step].reviews))
        numbers = (flagged_round(name) for name in names)
        paths |= {RoundPaths(STEP[step].reviews, number) for number in numbers if number}
    files = ((place.directory, place.diff, place.since) for place in sorted(paths))
    return tuple(file for group in files for file in group)


def unapprove(job: Job, step: str, who: str = "") -> ChangeSet:
    problem = permits.unapprove(job.facts, step)
    mark = change_set.mark(job.workspace, step)
    known = change_set.is_newest_record(job, "unapprove", mark)
    if problem and not (known and _is_half_unapproved(job, step)):
        raise Refusal(problem)
    decided = Record("unapprove", *mark, made=_made(job, (step,)))
    record = () if known else (change_set.on_record(job, decided, who),)
    return ChangeSet(
        handler="unapprove",
        step=step,
        round=mark.round,
        edits=(*record, *change_set.to_draft(job.workspace, step)),
        message=change_set.message("unapprove", step, job.run),
        covers=change_set.approved_together(job.workspace, step),
        otherwise=problem,
    )


def _is_half_unapproved(job: Job, step: str) -> bool:
    drafts = change_set.to_draft(job.workspace, step)
    return bool(drafts) or bool(change_set.uncommitted(job, (step,), approved=False))
