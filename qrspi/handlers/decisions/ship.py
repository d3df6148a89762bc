"""What the approval of test needs besides: how the tests stand, and a reason if they, or findings
that nobody settled, speak against it."""

from __future__ import annotations

from qrspi.core.code_steps import gate_records, pull_request, test_results, test_standing
from qrspi.core.code_steps.pull_request import FILE, Shipped
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, StateOfTests
from qrspi.core.pipeline import STEP
from qrspi.core.records.approvals import Record
from qrspi.core.steps.facts import Facts
from qrspi.core.text.shell_words import quoted
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs.job import Job
from qrspi.world.machine import clock

ARTIFACT = STEP["test"].artifact


def tests(job: Job) -> StateOfTests:
    return test_standing.state(job.facts, test_results.newest(job.workspace))


def refusal(job: Job, step: str, reason: str) -> Problem | None:
    if step != "test":
        text = f"--failing is about the tests, and {step} has none: leave it out"
        hint = f"qrspi approve {job.run} {step}"
        return Problem("nothing-fails", text, field="--failing", hint=hint) if reason else None
    against = test_standing.objections(tests(job), job.loop)
    command = f"qrspi approve {job.run} test"
    if against and not reason:
        return Problem(
            "tests-not-passed",
            f"{'; '.join(against)}. {ARTIFACT} is approved all the same only with a reason: "
            "--failing -m REASON",
            file=ARTIFACT,
            field="--failing",
            found=tests(job).state,
            expected="tests that passed, and no finding that is not settled",
            hint=job.next.command or f"{command} --failing -m REASON",
        )
    if reason and not against:
        text = "the tests passed and no finding is open: leave out --failing and its reason"
        return Problem("nothing-fails", text, field="--failing", hint=command)
    return None


def on_record(job: Job, approval: Record, reason: str) -> Record:
    """The approval with what is known of the tests."""
    return approval._replace(tests=tests(job).state, reason=reason)


def told(job: Job, who: str, reason: str) -> tuple[Edit, ...]:
    """The pull request says what was decided, by whom and why."""
    if not reason:
        return ()
    now = job.workspace.read(FILE)
    shipped = Shipped(change_set.decider(job, who), clock.now_utc(), reason)
    text = pull_request.text(job.facts, job.loop, shipped)
    data = gate_records.drafted(now, pull_request.title(job.facts), text, {})
    if isinstance(data, Problem):
        raise Refusal(data)
    return (Edit("write", FILE, "why it is shipped all the same", data),)


def tests_later(facts: Facts) -> str:
    """Whoever approves a plan is told which command will run the tests of the result."""
    said = facts.config.said_of_tests
    if said == NO_TESTS:
        return "no command runs the tests of this run: gates.test_command in config.md is none"
    if said:
        return f"the tests of this run: {said}"
    setting = f"qrspi config set {facts.run} gates.test_command CMD"
    return f"nobody has said what runs the tests: `{setting}`, or none in place of CMD"


def how_to_send(job: Job) -> str:
    title, body = pull_request.title(job.facts), f"{job.workspace.path}/{FILE}"
    return f"to open it: gh pr create --title {quoted(title)} --body-file {quoted(body)}"
