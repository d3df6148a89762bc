"""A person's no to the text that waits, with the reason.

The feedback comes first: where it cannot be written nothing is changed, and without a record
that names it, the same command takes it for its own.
"""

from __future__ import annotations

from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import feedback_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import approvals, feedback
from qrspi.core.steps import permits
from qrspi.core.tree import Fault
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import commits, repository


def plan(job: Job, step: str, words: bytes, who: str = "") -> Move:
    if problem := permits.reject(job.facts, job.next, step) or _no_words(job, step, words):
        raise Refusal(problem)
    number = feedback.newest(job.workspace, step)
    again = feedback.says(job.workspace, step, number, words)
    number += not again
    path = feedback_file(step, number)
    about = records.mark(job.workspace, step)
    known = any(record.event == "reject" and record.note == path for record in job.facts.records)
    edits = [
        *([] if again else [_feedback(job, step, number, words)]),
        *([] if known else [records.line(job, "reject", about, who, note=path)]),
        *(moves.to_draft(job.workspace, step) if job.facts.step != "replan" else ()),
    ]
    return _move(job, step, tuple(edits), about.round, path)


def _feedback(job: Job, step: str, number: int, words: bytes) -> Edit:
    artifact = job.workspace.read(STEP[step].artifact)
    if isinstance(artifact, Fault):
        text = f"cannot read {STEP[step].artifact}: {artifact.detail or artifact.kind}"
        raise Halt(Problem("unreadable", text, file=STEP[step].artifact))
    data = feedback.render(step, number, words, artifact)
    return Edit("create", feedback_file(step, number), "the words, and the text they reject", data)


def _no_words(job: Job, step: str, words: bytes) -> Problem | None:
    hint = f"qrspi reject {job.run} {step} -m TEXT"
    if len(words) > feedback.LIMIT:
        text = f"the feedback has {len(words)} bytes, the most is {feedback.LIMIT}"
        return Problem("feedback-too-long", text, found=str(len(words)), hint=hint)
    if words.strip():
        return None
    text = f"the feedback is empty: say what is wrong with {STEP[step].artifact}"
    return Problem("empty-feedback", text, expected="words", hint=hint)


def _move(job: Job, step: str, edits: tuple[Edit, ...], number: int, path: str) -> Move:
    artifact = STEP[step].artifact
    said = Problem(
        "already-rejected",
        f"{artifact} is rejected with these very words already: {path}",
        file=path,
        hint=f"qrspi next {job.run}",
    )
    tasks = moves.tasks(job.workspace) if step == "plan" else ()
    message = moves.message("reject", step, job.run)
    covers = (path, artifact, *tasks)
    if edits or not _is_committed(job, path):
        return Move("reject", step, number, edits, message, covers, said, (path,))
    raise Refusal(said)


def _is_committed(job: Job, path: str) -> bool:
    repo = repository.find(job.workspace.path)
    if repo is None:
        return True
    there = commits.content(repo, "HEAD", path) is not None
    return there and not moves.is_behind(job, approvals.FILE)
