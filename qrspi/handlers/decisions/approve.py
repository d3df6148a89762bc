"""A person approves a step.

The record comes first, then the plan's tasks, then the marker of a finished phase, then the
artifact's own `status: approved`, which alone lets the run go on; the commit is last. After a kill,
the same command finds its record and does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import phases
from qrspi.core.code_steps import gate_records, shipping, test_results
from qrspi.core.code_steps.shipping import PULL_REQUEST, Shipped
from qrspi.core.config import problems as config_problems
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.errors import Refusal, accepted
from qrspi.core.model import Problem, StateOfTests
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import MARKER, STEP, subject_of
from qrspi.core.records import step_text
from qrspi.core.records.approvals import ABOUT_STEPS, Record
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list
from qrspi.core.steps import after_round, authoring, permits, text_form
from qrspi.core.steps.facts import Facts, status_of
from qrspi.core.text import shell_words
from qrspi.core.tree import Fault
from qrspi.core.yaml import frontmatter, writer
from qrspi.handlers.changes import change_set, code_repository, merged_work
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.gates import audit, quality_approval
from qrspi.handlers.gates.quality_approval import Approved
from qrspi.handlers.jobs.job import Job
from qrspi.world.git import branches, refs, repository
from qrspi.world.git.repository import Repo
from qrspi.world.machine import clock


class Standing(NamedTuple):
    step: str
    artifact: str
    review: str
    clean: bool
    body_hash: str
    doubts: tuple[str, ...] = ()  # why the engine recommends another draft
    settled: bool = False  # a person decided about all findings and wants none applied

    @property
    def sentence(self) -> str:
        return "; ".join((self.review, *self.doubts))


def step_of(job: Job, word: str | None) -> str:
    """The current step, unless an approval was cut off before its commit, which comes first."""
    if word:
        return word
    last = next((r for r in reversed(job.facts.records) if r.event in ABOUT_STEPS), None)
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
    if job.next.kind == "batch" and step == job.next.step:
        return _of_batch(job, step)
    subject = subject_of(step)
    facts = job.facts._replace(step=step)
    loop = job.loop if job.loop and job.loop.subject == subject else None
    loop = loop or loops.evaluate(facts.tree, subject, facts.config, facts.base, facts.records)
    review, clean = after_round.standing(facts, loop)
    left = (f"round {loop.round} is not finished",) if after_round.is_open(loop) else ()
    formless = (fault.message for fault in text_form.faults(facts.tree, step))
    doubts = (*left, *(authoring.needed(facts) or formless))
    text = step_text.body_hash(facts.tree, subject)
    settled = loop.fresh and after_round.is_settled(facts, loop)
    return Standing(
        step=step,
        artifact=STEP[step].artifact,
        review=review,
        clean=clean and not doubts,
        body_hash=text,
        doubts=doubts,
        settled=settled and not doubts,
    )


def _of_batch(job: Job, step: str) -> Standing:
    """Each task was reviewed by itself, so their gate is passed where going on is recommended."""
    return Standing(
        step=step,
        artifact=STEP[step].artifact,
        review=job.next.because[0],
        clean=job.next.options[0].key == "continue",
        body_hash=step_text.body_hash(job.workspace, subject_of(step)),
    )


class Consent(NamedTuple):
    who: str = ""
    unreviewed: bool = False
    shown: Standing | None = None
    reason: str = ""  # why test is approved although tests or findings speak against it
    text: str = ""  # the hash, or its beginning, of the one text that is meant


CLEAN_ONLY = Consent()


def plan(job: Job, step: str, consent: Consent = CLEAN_ONLY) -> ChangeSet:
    return plan_for(job, standing(job, step), consent)


def plan_for(job: Job, current: Standing, consent: Consent) -> ChangeSet:
    step = current.step
    problem = permits.approve(job.facts, job.next, step, job.options.actor)
    if problem and problem.code == "already-approved" and lacks_commit(job, step):
        return _change(job, step, (), problem)
    if problem := problem or _disagreement(job, current, consent):
        raise Refusal(problem)
    if step in merged_work.STEPS:
        merged_work.refuse_only_said(job, step)
    marked = change_set.mark(job.workspace, step)
    known = change_set.is_own_newest_approval(job, marked, consent.who)
    flag = "" if current.clean or current.settled else "unreviewed"
    approval = Record("approve", *marked, option=flag)
    if step == "test":
        approval = approval._replace(tests=_tests_now(job).state, reason=consent.reason)
    record = () if known else (change_set.on_record(job, approval, consent.who),)
    pull_request = _shipped_edit(job, consent.who, consent.reason) if step == "test" else ()
    change = _change(job, step, (*record, *pull_request, *statuses(job, step)), None)
    return change._replace(notes=notes(job, step))


def statuses(job: Job, step: str) -> tuple[Edit, ...]:
    """The writes that approve a step: with a plan its tasks first, and the step's own mark last."""
    edits: list[Edit] = []
    if step == "plan":
        if problem := audit.objection(job):
            raise Refusal(problem)
        edits += _approved_tasks(job).edits
    edits += _phase_marker(job) if step == "test" else []
    edits += [edit for edit in (_artifact(job, step),) if edit]
    return tuple(edits)


def _phase_marker(job: Job) -> list[Edit]:
    """It asks for a replan. There is none after the last phase, or without planned phases."""
    phasing = job.workspace.read(STEP["phasing"].artifact)
    if isinstance(phasing, Fault) or phases.is_last(phasing, job.facts.phase):
        return []
    if MARKER in job.facts.names:
        return []
    text = f"---\nphase: {job.facts.phase}\ntimestamp: {clock.now_utc()}\n---\n"
    what = f"phase {job.facts.phase} is done and another follows"
    return [Edit("create", MARKER, what, text.encode())]


def _approved_tasks(job: Job) -> Approved:
    tree, paths = job.workspace, change_set.task_files(job.workspace)
    for path in paths:
        status, problem = frontmatter.status(tree.head(path), path)
        if status == "invalid" and problem:
            text = f"{problem.message}; correct it before the plan is approved"
            raise Refusal(problem._replace(message=text))
    if not quality_approval.is_on(job):
        fields = {"status": "approved"}
        edits = (change_set.set_fields(tree, path, fields, "status: approved") for path in paths)
        return Approved(tuple(edit for edit in edits if edit), ())
    return quality_approval.approved(job, paths)


def notes(job: Job, step: str) -> tuple[str, ...]:
    if step == "test":
        return _how_to_send(job)
    if step == "plan":
        return (*_approved_tasks(job).notes, _tests_later(job.facts))
    return ()


def _disagreement(job: Job, current: Standing, consent: Consent) -> Problem | None:
    step = current.step
    ships = step == "test" or consent.reason
    if ships and (problem := _ship_refusal(job, step, consent.reason)):
        return problem
    command = f"qrspi approve {job.run} {step}"
    if problem := _changed_meanwhile(current, consent, command):
        return problem
    accepts = consent.unreviewed or consent.shown or consent.reason
    if current.clean or current.settled or accepts:
        return None
    waits = (job.next.action != "approve" or job.next.kind == "batch") and job.next.hint(job.run)
    returned = authoring.is_returned(job.facts._replace(step=step))
    way = f"{current.artifact} is approved all the same only with --unreviewed"
    if returned or job.next.kind == "form":
        way = "correct it and have it reviewed, or approve it as it is with --unreviewed"
    return Problem(
        "not-reviewed",
        f"{current.sentence}: {way}",
        file=current.artifact,
        found=current.review,
        expected="a clean review",
        hint=(not returned and waits) or f"{command} --unreviewed",
    )


def _changed_meanwhile(current: Standing, consent: Consent, command: str) -> Problem | None:
    file = current.artifact
    if consent.shown and consent.shown != current:
        text = f"{file} or its reviews changed while you were asked: look at it again"
        return Problem("changed-meanwhile", text, file, hint=command)
    digest = current.body_hash.removeprefix(step_text.VERSION)
    if digest.startswith(consent.text.removeprefix(step_text.VERSION)):
        return None
    text = f"{file} is another text than the one you saw: look at it again"
    found, expected = digest, consent.text
    return Problem("changed-meanwhile", text, file, "--text", found, expected, command)


def lacks_commit(job: Job, step: str) -> bool:
    return bool(uncommitted(job, (step,)))


def uncommitted(job: Job, steps: Iterable[str]) -> tuple[str, ...]:
    """Of these steps, those approved here, by a record that fits the text, but not in git."""
    if not change_set.in_git(job):
        return ()
    approved = [
        step
        for step in steps
        if status_of(job.facts, step) == "approved"
        and change_set.is_newest_record(job, "approve", change_set.mark(job.workspace, step))
    ]
    return change_set.uncommitted(job, approved, approved=True)


def _change(job: Job, step: str, edits: tuple[Edit, ...], otherwise: Problem | None) -> ChangeSet:
    return ChangeSet(
        handler="approve",
        step=step,
        round=round_list.highest(job.workspace, subject_of(step)),
        edits=edits,
        message=change_set.message("approve", step, job.run),
        covers=covered(job, step),
        otherwise=otherwise,
    )


# Repairs are made and reviewed like tasks, whichever step asked for them.
_WITH_CODE = {
    "implement": ("reviews/tasks", "fixes"),
    "integrate": ("reviews/tasks", "fixes", "reviews/ci"),
    "test": ("reviews/tasks", "fixes", "pull-request.md"),
}


def covered(job: Job, step: str) -> tuple[str, ...]:
    return (*change_set.texts(job, step), STEP[step].reviews, *_WITH_CODE.get(step, ()))


def _artifact(job: Job, step: str) -> Edit | None:
    fields = _phase_start(job) if step == "plan" else {}
    fields["status"] = "approved"
    words = ", ".join(f"{key}: {value}" for key, value in fields.items())
    return change_set.set_fields(job.workspace, STEP[step].artifact, fields, words)


def _phase_start(job: Job) -> dict[str, str]:
    """A plan that is approved again within the phase keeps its start."""
    repo = code_repository.repository_or_none(job)
    if repo is None:
        return {}
    fields: dict[str, str] = {}
    if branch := repository.branch(repo):
        fields["feature_branch"] = _onto(job, repo, branch)
    new_phase = job.facts.statuses["plan"] == "replan-draft"
    commit = refs.head(repo)
    if commit and (new_phase or not _recorded_start(job)):
        fields["phase_start_commit"] = commit
    return fields


def _onto(job: Job, repo: Repo, here: str) -> str:
    """The default branch is recorded only when a person has named it."""
    named = job.facts.config.feature_branch
    if named is None and here == refs.default_branch(repo):
        return "null"
    return writer.quote(here)


def _recorded_start(job: Job) -> str:
    fields = frontmatter.fields(job.workspace.head(STEP["plan"].artifact))
    return frontmatter.filled(fields, "phase_start_commit")


TEST_RESULTS = STEP["test"].artifact


def _tests_now(job: Job) -> StateOfTests:
    return shipping.tests_now(job.facts, test_results.newest(job.workspace))


def _ship_refusal(job: Job, step: str, reason: str) -> Problem | None:
    if step != "test":
        text = f"--failing is about the tests, and {step} has none: leave it out"
        hint = f"qrspi approve {job.run} {step}"
        return Problem("nothing-fails", text, field="--failing", hint=hint) if reason else None
    against = shipping.objections(_tests_now(job), job.loop)
    command = f"qrspi approve {job.run} test"
    if against and not reason:
        return Problem(
            "tests-not-passed",
            f"{'; '.join(against)}. {TEST_RESULTS} is approved all the same only with a reason: "
            "--failing -m REASON",
            file=TEST_RESULTS,
            field="--failing",
            found=_tests_now(job).state,
            expected="tests that passed, and no finding that is not settled",
            hint=job.next.hint(job.run) or f"{command} --failing -m REASON",
        )
    if reason and not against:
        text = "the tests passed and no finding is open: leave out --failing and its reason"
        return Problem("nothing-fails", text, field="--failing", hint=command)
    return None


def _shipped_edit(job: Job, who: str, reason: str) -> tuple[Edit, ...]:
    if not reason:
        return ()
    page = job.workspace.read(PULL_REQUEST)
    shipped = Shipped(change_set.decider(job, who), clock.now_utc(), reason)
    text = shipping.pull_request(job.facts, job.loop, shipped)
    data = accepted(gate_records.drafted(page, shipping.title(job.facts), text, {}))
    return (Edit("write", PULL_REQUEST, "why it is shipped all the same", data),)


def _tests_later(facts: Facts) -> str:
    command = facts.config.said_of_tests
    if command == NO_TESTS:
        return "no command runs the tests of this run: gates.test_command in config.md is none"
    if command:
        return f"the tests of this run: {command}"
    setting = config_problems.naming(facts.run)
    return f"nobody has said what runs the tests: `{setting}`, or none in place of 'CMD'"


def _how_to_send(job: Job) -> tuple[str, ...]:
    """Said only where the work is on a branch of its own, and can be sent somewhere."""
    branch, repo = shipping.branch_to_send(job.facts), code_repository.repository_or_none(job)
    remote = branches.remote(repo) if branch and repo else ""
    if not remote:
        return ()
    title, body = shipping.title(job.facts), f"{job.workspace.path}/{PULL_REQUEST}"
    send = shell_words.command("git", "push", remote, branch)
    what = ("--head", branch, "--title", title, "--body-file", body)
    command = shell_words.command("gh", "pr", "create", *what)
    return (f"to send the branch: {send}", f"then, for a pull request on GitHub: {command}")
