"""Tasks that cannot go on: their agents report BLOCKED, or what they build on was left out."""

from __future__ import annotations

from qrspi.core.code_steps import implementers, task_state
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.model import Next, Option
from qrspi.core.records import task_records
from qrspi.core.steps.facts import Facts
from qrspi.core.text import shortened
from qrspi.core.tree import exists

RETRY = Option("retry", "send its agent again, with its report and your words in its prompt")
SKIP = Option("skip", "leave the task out")
_MOST = 300  # characters of a reason; the report has the rest


def evaluate(facts: Facts, task: TaskState) -> TaskState:
    """Of a task whose code, or whose first tests, are reported BLOCKED."""
    if exists(facts.tree, task_records.again_file(task.key)):
        why = f"{task.key}: it was BLOCKED, and a person has it sent again"
        task = task._replace(state="implementing", because=(why,))
        return task._replace(next=implementers.send(facts, (task,)))
    following = _ask(facts, task)
    return task._replace(state="blocked", because=following.because, next=following)


def stuck(facts: Facts, task: TaskState, lost: TaskState) -> TaskState:
    what = "was left out" if lost.state == "skipped-by-user" else "ended without a commit"
    why = f"{task.key} builds on {lost.key}, which {what}"
    skip = f"qrspi task skip {facts.run} {task.key} --reason TEXT"
    ways = (
        f"leave it out with `{skip}`, or give it another base in the plan "
        f"(`qrspi rewind {facts.run} --to plan`)."
    )
    return task_state.left_to_person(task, "stuck", why, f"{why}: {ways}", skip, options=(SKIP,))


def report_of(task: TaskState) -> str:
    """The file that says BLOCKED; '' when none does."""
    if task.report:
        return "" if task.report.done else task_records.report_file(task.key)
    return task_records.tests_file(task.key) if task.tests and not task.tests.done else ""


def _ask(facts: Facts, task: TaskState) -> Next:
    why = _why(task)
    retry = f"qrspi task retry {facts.run} {task.key}"
    skip = f"qrspi task skip {facts.run} {task.key} --reason TEXT"
    other = f"; `qrspi config set {facts.run} test_writer off` sends its implementer"
    return Next(
        action="decide",
        who="human",
        summary=f"{why}{'' if why.endswith(('.', '?', '!', '…')) else '.'} When the cause is gone, "
        f"`{retry}` sends it again, with `-m` and your answer where it asks something; `{skip}` "
        f"leaves the task out{'' if task.report else other}.",
        because=(why,),
        step=task.key,
        round=task.loop.round if task.loop else 0,
        inputs=(task.item.file, report_of(task), *task.findings),
        options=(RETRY, SKIP),
        command=retry,
        kind="task",
    )


def _why(task: TaskState) -> str:
    report = task.report or task.tests
    reason = shortened.remark(report.text, _MOST) if report else ""
    who = "implementer" if task.report else "test writer"
    return f"{task.key} is blocked, says its {who}{f': {reason}' if reason else ''}"
