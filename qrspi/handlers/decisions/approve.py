"""A person's yes to a step.

The record comes first, then the plan's tasks, then the marker of a finished phase, then the
artifact's own `status: approved`, which alone lets the run go on; the commit is last. Whatever
a kill leaves of that, the same command finds its record and does the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP, subject
from qrspi.core.records import step_text as bodies
from qrspi.core.rounds import loop as loops
from qrspi.core.steps import after_round as gate
from qrspi.core.steps import authoring, permits
from qrspi.core.steps.facts import status_of
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml import reader as yaml
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes import review_target as target
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.decisions import phase_marker as phases
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import refs, repository


class Standing(NamedTuple):
    """What a person is told before the yes: how reviews stand, and about which text."""

    step: str
    artifact: str
    review: str
    clean: bool
    body_hash: str
    doubts: tuple[str, ...] = ()  # why the engine would rather have it written again

    @property
    def sentence(self) -> str:
        return "; ".join((self.review, *self.doubts))


def step_of(job: Job, word: str | None) -> str:
    """The step that is meant: the current one, unless an approval was cut off before its
    commit, which comes first."""
    if word:
        return word
    last = job.facts.records[-1] if job.facts.records else None
    if last and last.event == "approve" and lacks_commit(job, last.step):
        return last.step
    if job.facts.step == "replan":
        drafts = (s for s in job.facts.route if job.facts.statuses[s] == "replan-draft")
        return next(drafts, "replan")
    if job.facts.step:
        return job.facts.step
    text = f"{job.run} is complete: there is nothing left to approve"
    raise Refusal(Problem("nothing-to-approve", text, hint=f"qrspi status {job.run}"))


def standing(job: Job, step: str) -> Standing:
    about = subject(step)
    assert about is not None
    facts = job.facts._replace(step=step)
    loop = job.loop if job.loop and job.loop.subject == about else None
    loop = loop or loops.evaluate(facts.tree, about, facts.config, facts.base)
    review, clean = gate.standing(facts, loop)
    left = (f"round {loop.number} is not finished",) if gate.is_open(loop) else ()
    doubts = (*left, *authoring.needed(facts))
    text = bodies.body_hash(facts.tree, about)
    return Standing(step, STEP[step].artifact, review, clean and not doubts, text, doubts)


class Consent(NamedTuple):
    """What a person has said yes to: a text that no review passed, or just what was shown."""

    who: str = ""
    unreviewed: bool = False
    shown: Standing | None = None


CLEAN_ONLY = Consent()


def plan(job: Job, step: str, consent: Consent = CLEAN_ONLY) -> Move:
    problem = permits.approve(job.facts, job.next, step, job.options.actor)
    if problem and problem.code == "already-approved" and lacks_commit(job, step):
        return _move(job, step, (), problem)
    if problem := problem or _disagreement(job, step, consent):
        raise Refusal(problem)
    about = records.mark(job.workspace, step)
    known = records.is_newest(job, "approve", about, records.person(job, consent.who))
    record = () if known else (records.line(job, "approve", about, consent.who),)
    return _move(job, step, (*record, *statuses(job, step)), None)


def statuses(job: Job, step: str) -> tuple[Edit, ...]:
    """What makes a step approved: with a plan its tasks first, and the step's own mark last."""
    edits = _tasks(job) if step == "plan" else []
    edits += phases.announce(job) if step == "test" else []
    edits += [edit for edit in (_artifact(job, step),) if edit]
    return tuple(edits)


def _disagreement(job: Job, step: str, consent: Consent) -> Problem | None:
    now = standing(job, step)
    command = f"qrspi approve {job.run} {step}"
    if consent.shown and consent.shown != now:
        text = f"{now.artifact} or its reviews changed while you were asked: look at it again"
        return Problem("changed-meanwhile", text, file=now.artifact, hint=command)
    if now.clean or consent.unreviewed or consent.shown:
        return None
    hint = f"{command} --unreviewed"
    return Problem(
        "not-reviewed",
        f"{now.sentence}: {now.artifact} is approved all the same only with --unreviewed",
        file=now.artifact,
        found=now.review,
        expected="a clean review",
        hint=hint,
    )


def lacks_commit(job: Job, step: str) -> bool:
    """Approved here, by a record that fits the text, and not, or not whole, in git."""
    artifact = STEP[step].artifact
    return (
        moves.in_git(job)
        and status_of(job.facts, step) == "approved"
        and records.is_newest(job, "approve", records.mark(job.workspace, step))
        and (moves.committed_status(job, artifact) != "approved" or moves.is_behind(job, artifact))
    )


def _move(job: Job, step: str, edits: tuple[Edit, ...], otherwise: Problem | None) -> Move:
    about = subject(step)
    assert about is not None
    return Move(
        "approve",
        step,
        loops.highest(job.workspace, about),
        edits,
        moves.message("approve", step, job.run),
        covered(job, step),
        otherwise,
    )


# Repairs are made and reviewed like tasks, in whichever step asked for them.
_WITH_CODE = {
    "implement": ("reviews/tasks", "fixes"),
    "integrate": ("reviews/tasks", "fixes", "reviews/ci"),
    "test": ("reviews/tasks", "fixes", "pull-request.md"),
}


def covered(job: Job, step: str) -> tuple[str, ...]:
    """The artifact, its companions and its review files."""
    return (*moves.texts(job, step), STEP[step].reviews, *_WITH_CODE.get(step, ()))


def _tasks(job: Job) -> list[Edit]:
    found = [_task(job, path) for path in moves.tasks(job.workspace)]
    return [edit for edit in found if edit]


def _task(job: Job, path: str) -> Edit | None:
    status, problem = frontmatter.status(job.workspace.head(path), path)
    if status == "invalid" and problem:
        text = f"{problem.message}; correct it before the plan is approved"
        raise Refusal(problem._replace(message=text))
    return moves.set_fields(job.workspace, path, {"status": "approved"}, "status: approved")


def _artifact(job: Job, step: str) -> Edit | None:
    fields = _phase_start(job) if step == "plan" else {}
    fields["status"] = "approved"
    words = ", ".join(f"{key}: {value}" for key, value in fields.items())
    return moves.set_fields(job.workspace, STEP[step].artifact, fields, words)


def _phase_start(job: Job) -> dict[str, str]:
    """Where the code stood when this phase's plan was approved, and on which branch. A plan
    that is approved again within the phase keeps its start."""
    repo = target.code_repository(job)
    if repo is None:
        return {}
    fields: dict[str, str] = {}
    if branch := repository.branch(repo):
        fields["feature_branch"] = yaml.quote(branch)
    new_phase = job.facts.statuses["plan"] == "replan-draft"
    commit = refs.head(repo)
    if commit and (new_phase or not _recorded_start(job)):
        fields["phase_start_commit"] = commit
    return fields


def _recorded_start(job: Job) -> str:
    head = job.workspace.head(STEP["plan"].artifact)
    front = None if isinstance(head, Fault) else frontmatter.read(head)
    if not isinstance(front, frontmatter.Front):
        return ""
    return frontmatter.text(front.fields, "phase_start_commit") or ""
