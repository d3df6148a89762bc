"""Which agents are sent into the work trees: implementers, and agents that only write tests."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import task_criteria, task_file
from qrspi.core.artifacts.task_criteria import Criterion
from qrspi.core.hints import TYPE_CHECKING, Literal, cast
from qrspi.core.model import TESTS, Ask, Next, Problem
from qrspi.core.records import task_records
from qrspi.core.steps import next_actions, sending
from qrspi.core.steps.facts import Facts

if TYPE_CHECKING:
    from qrspi.core.code_steps.task_state import TaskState

ACCEPTANCE = "acceptance-tests"  # a repair that tests all criteria against what is merged


def writes_tests(task: TaskState) -> bool:
    return task.awaits_tests or is_acceptance(task.key)


def is_acceptance(key: str) -> bool:
    return key.endswith(f"/{ACCEPTANCE}")


def asked(task: TaskState) -> Ask:
    return Ask("implement", task.key, task.cycle, TESTS if writes_tests(task) else "")


def send(facts: Facts, tasks: tuple[TaskState, ...], *, now: bool = False) -> Next:
    """One agent a task, each in its own work tree. Prompts wait for them if the whole run comes to
    this `now`."""
    several = len(tasks) > 1
    testers = tuple(task for task in tasks if writes_tests(task))
    others = tuple(task for task in tasks if task not in testers)
    sentences = (
        _sent(facts, testers, now),
        _sent(facts, others, now),
    )
    return Next(
        action="dispatch-tasks",
        who="agent",
        summary=" ".join(filter(None, sentences)),
        because=tuple(reason for task in tasks for reason in task.because),
        step=facts.step if several else tasks[0].key,
        missing=tuple(task.key for task in tasks),
        inputs=tuple(path for task in tasks for path in (task.item.file, *task.findings)),
        asks=tuple(task.ask for task in tasks),
        command=f"qrspi next {facts.run}",  # once they have reported
        kind="implement",
    )


def who(task: TaskState) -> str:
    return "a test writer" if writes_tests(task) else "an implementer"


def _sent(facts: Facts, tasks: tuple[TaskState, ...], now: bool) -> str:
    if not tasks:
        return ""
    places = ", ".join(f"{task.key} in {task.start.worktree}" for task in tasks if task.start)
    first = tasks[0].key
    how = f"; {sending.ways(facts, tuple(task.ask for task in tasks))}" if now else ""
    if len(tasks) == 1:
        return f"Send {who(tasks[0])}: {places}{how}. It ends with `{report(facts, tasks[0])}`."
    form = report(facts, tasks[0]).replace(f" {first} ", " TASK ")
    return f"Send {who(tasks[0]).partition(' ')[2]}s: {places}{how}. Each ends with `{form}`."


def report(facts: Facts, task: TaskState) -> str:
    return report_command(f"qrspi task report {facts.run}", task)


def report_command(command: str, task: TaskState) -> str:
    tests = " --tests" if task.awaits_tests else ""
    evidence = " -F FILE" if is_acceptance(task.key) else ""
    return f"{command} {task.key}{tests} --status DONE --commit HEAD{evidence}"


# Tests before the code


def with_tests(facts: Facts, task: TaskState) -> TaskState | Problem:
    head = facts.tree.head(task.item.file)
    if task.item.is_repair or task_file.is_light(head):
        return task
    tests = task_records.tests(facts.tree, task.key)
    if isinstance(tests, Problem):
        return tests
    awaited = tests is None or not tests.done or tests.is_vacuous
    return task._replace(tests=tests, awaits_tests=awaited)


VACUOUS = (
    "your tests were run before the code was written, and nothing failed that did not fail before: "
    "either they show nothing, or the test command does not run them. Correct them; where the "
    "behaviour is there already, report DONE_WITH_CONCERNS and say so"
)


def recalled(facts: Facts, task: TaskState) -> TaskState:
    """With what is on record of its first tests. A record that cannot be read counts as none."""
    known = with_tests(facts, task)
    if isinstance(known, Problem):
        return task._replace(awaits_tests=True)
    return known if known.tests or facts.config.test_writer == "on" else task


FirstTests = Literal["failed", "passed", "not-run", "not-written", "not-recorded"]
SEEN_BEFORE: dict[FirstTests, str] = {
    "failed": "failed then, as they should",
    "passed": "passed already, so they show nothing of it",
    "not-run": "were not run then",
    "not-written": "were not written: their writer reported BLOCKED",
    "not-recorded": "are not on record",
}


def first_tests(task: TaskState) -> FirstTests | None:
    tests = task.tests
    if tests is None:
        return "not-recorded" if task.awaits_tests else None
    if not tests.done:
        return "not-written"
    return cast(FirstTests, tests.seen) if tests.seen else "not-run"


# Tests of the whole


def acceptance_next(
    facts: Facts, tasks: Iterable[TaskState], repairs: Iterable[TaskState]
) -> Next | None:
    if any(is_acceptance(task.key) for task in repairs) or not criteria(facts, tasks):
        return None
    what = "Make a task of the tests that hold every acceptance criterion against the whole"
    because = ("test_writer in config.md is on",)
    return next_actions.by_engine(facts, "apply-fixes", "write-acceptance", what, because)


def criteria(facts: Facts, tasks: Iterable[TaskState]) -> tuple[Criterion, ...]:
    """The criteria of the tasks that are merged. A task that was left out promises nothing."""
    return task_criteria.read(facts.tree, (task.key for task in tasks if task.reviewed))
