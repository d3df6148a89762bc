"""A person rejects the text that waits, with the reason.

The feedback is written first: if that fails, nothing is changed. While no record names it, the same
command recognises it as its own.
"""

from __future__ import annotations

from qrspi.core.artifacts import inquiry
from qrspi.core.errors import Refusal
from qrspi.core.filenames import feedback_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import approvals, feedback
from qrspi.core.records.approvals import Record
from qrspi.core.records.feedback import Answers
from qrspi.core.steps import isolation, permits
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, repository


def plan(job: Job, step: str, words: bytes, who: str = "") -> ChangeSet:
    hint = f"qrspi reject {job.run} {step} -m TEXT"
    if problem := permits.reject(job.facts, job.next, step) or bad_words(job, step, words, hint):
        raise Refusal(problem)
    mark = change_set.mark(job.workspace, step)
    path, written = feedback_edits(job, step, words, mark.round)
    known = ("reject", path) in {(one.event, one.feedback) for one in job.facts.records}
    record = Record("reject", *mark, feedback=path)
    edits = [
        *written,
        *([] if known else [change_set.on_record(job, record, who)]),
        *(change_set.to_draft(job.workspace, step) if job.facts.step != "replan" else ()),
    ]
    return _change(job, step, tuple(edits), mark.round, path)


def feedback_edits(
    job: Job, step: str, words: bytes, reviewed: int
) -> tuple[str, tuple[Edit, ...]]:
    """Words that are there already, about this text, were written by a killed command."""
    number = feedback.newest(job.workspace, step)
    answers = _named_answers(job, step, words)
    if feedback.says(job.workspace, step, number, words, answers):
        return feedback_file(step, number), ()
    number = feedback.following(job.workspace, step, reviewed)
    return feedback_file(step, number), (_feedback(job, step, number, words, answers),)


def _named_answers(job: Job, step: str, words: bytes) -> Answers:
    """For research: the answers to the questions that the words name are asked for again."""
    if step != "research":
        return {}
    named = inquiry.named(job.workspace, job.facts.config, words)
    hashes = {name: feedback.answer_hash(job.workspace, name) for name in named}
    return {name: known for name, known in hashes.items() if known}


def _feedback(job: Job, step: str, number: int, words: bytes, answers: Answers) -> Edit:
    artifact = change_set.content(job.workspace, STEP[step].artifact)
    data = feedback.render(step, number, words, artifact, answers)
    return Edit("create", feedback_file(step, number), "the words, and the text they reject", data)


def bad_words(job: Job, step: str, words: bytes, hint: str) -> Problem | None:
    if problem := _no_words(step, words, hint):
        return problem
    if step != "research":
        return None
    isolated = isolation.told_by(job.workspace, job.run, words.decode(errors="replace"))
    return isolated._replace(hint=hint) if isolated else None


def _no_words(step: str, words: bytes, hint: str) -> Problem | None:
    if len(words) > feedback.LIMIT:
        text = f"the feedback has {len(words)} bytes, the most is {feedback.LIMIT}"
        return Problem("feedback-too-long", text, found=str(len(words)), hint=hint)
    if words.strip():
        return None
    text = f"the feedback is empty: say what is wrong with {STEP[step].artifact}"
    return Problem("empty-feedback", text, expected="words", hint=hint)


def _change(job: Job, step: str, edits: tuple[Edit, ...], number: int, path: str) -> ChangeSet:
    artifact = STEP[step].artifact
    text = f"{artifact} is rejected with these very words already: {path}"
    problem = Problem("already-rejected", text, file=path, hint=f"qrspi next {job.run}")
    if not edits and _is_committed(job, path):
        raise Refusal(problem)
    return ChangeSet(
        handler="reject",
        step=step,
        round=number,
        edits=edits,
        message=change_set.message("reject", step, job.run),
        covers=(path, *change_set.approved_together(job.workspace, step)),
        otherwise=problem,
        concerns=(path,),
    )


def _is_committed(job: Job, path: str) -> bool:
    repo = repository.find(job.workspace.path)
    if repo is None:
        return True
    there = commits.content(repo, "HEAD", path) is not None
    return there and not change_set.is_behind(job, approvals.FILE)
