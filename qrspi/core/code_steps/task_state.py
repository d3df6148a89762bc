"""Where one task stands, from its records and its review rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from qrspi.core.code_steps import reviewer_tiers as tiers
from qrspi.core.code_steps.batch import Item
from qrspi.core.model import Next, Option, Problem
from qrspi.core.pipeline import Subject, subject
from qrspi.core.records import approvals
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import ENDINGS, Outcome, Reopened, Report, Start
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import review_action as reviewing
from qrspi.core.steps.facts import Facts

FIX_CYCLES = 3

State = Literal[
    "waiting",  # for a commit of a task it builds on
    "ready",  # to be started
    "stuck",  # a task it builds on ended without a commit
    "implementing",
    "blocked",  # says its implementer
    "reviewing",
    "fixing",
    "undecided",  # a person accepts it, skips it, or sends it back
    "broken",  # a record that cannot be read
    "clean",
    "accepted-with-issues",
    "skipped-by-user",
]
TERMINAL: tuple[State, ...] = ("clean", *ENDINGS)
OPTIONS = (
    Option("accept", "take the task as it is, with its open issues"),
    Option("skip", "leave the task out"),
)


class TaskState(NamedTuple):
    item: Item
    state: State
    because: tuple[str, ...] = ()
    next: Next | None = None  # None while it waits for another task, and at its end
    start: Start | None = None
    report: Report | None = None
    outcome: Outcome | None = None
    reopened: Reopened | None = None
    loop: Loop | None = None

    @property
    def key(self) -> str:
        return self.item.key

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def commit(self) -> str:
        """A commit of its own that was reported; '' while there is none."""
        if not (self.start and self.report and self.report.done):
            return ""
        return "" if self.report.commit == self.start.base_commit else self.report.commit

    @property
    def cycle(self) -> int:
        """Which time an implementer is at it."""
        return (self.loop.number if self.loop else 0) + 1

    @property
    def prompt(self) -> str:
        """Run-relative: what its implementer is told. The name is not that of another's."""
        name = self.key.replace("/", "-")
        return f".qrspi/dispatch/{self.key}/cycle-{self.cycle:02d}/implementer-{name}.md"

    @property
    def findings(self) -> tuple[str, ...]:
        """What its implementer is to settle, run-relative."""
        sent_back = self.reopened.findings if self.reopened else ()
        if self.loop is None or self.loop.clean:
            return sent_back
        folder = self.loop.paths.directory
        own = (f"{folder}/{item.finding.file}" for item in self.loop.to_apply)
        return (*sent_back, *own)


def subject_of(key: str) -> Subject:
    found = subject(key)
    assert found is not None
    return found


def survey(facts: Facts, items: Iterable[Item]) -> tuple[TaskState, ...]:
    """The items come wave by wave, so whatever one builds on is known before it."""
    found: dict[str, TaskState] = {}
    for item in items:
        found[item.key] = evaluate(facts, item, found)
    return tuple(found.values())


def evaluate(facts: Facts, item: Item, earlier: Mapping[str, TaskState]) -> TaskState:
    tree, key = facts.tree, item.key
    start, report = taskfiles.start(tree, key), taskfiles.report(tree, key)
    outcome, reopened = taskfiles.outcome(tree, key), taskfiles.reopened(tree, key)
    for record in (start, report, outcome, reopened):
        if isinstance(record, Problem):
            return _broken(facts, item, record)
    task = TaskState(item, "ready", (), None, start, report, outcome, reopened)  # type: ignore[arg-type]
    if task.outcome:
        why = (f"a person decided so: {task.outcome.reason}",)
        return task._replace(state=task.outcome.ending, because=why, loop=_loop(facts, key))
    if task.start is None:
        return _before_start(facts, task, earlier)
    if task.report is None:
        return _implementing(facts, task, "nobody has reported yet")
    if not task.report.done:
        return _undecided(facts, task, "blocked", f"{key} is blocked, says its implementer")
    if not task.commit:
        return _implementing(facts, task, "what was reported is the commit it started from")
    return _reviewed(facts, task, task.report.commit)


def _broken(facts: Facts, item: Item, problem: Problem) -> TaskState:
    answer = Next(
        "blocked",
        "human",
        f"{problem.message}. Correct it, then run `qrspi next {facts.run}`.",
        (problem.message,),
        step=item.key,
        missing=(problem.file,),
        command=f"qrspi next {facts.run}",
        kind="invalid",
    )
    return TaskState(item, "broken", (problem.message,), answer)


def _before_start(facts: Facts, task: TaskState, earlier: Mapping[str, TaskState]) -> TaskState:
    open_needs = [
        earlier[need] for need in task.item.needs if need in earlier and not earlier[need].commit
    ]
    lost = [need.key for need in open_needs if need.terminal]
    if lost:
        return _stuck(facts, task, lost[0])
    if open_needs:
        why = tuple(f"{need.key} has no commit yet" for need in open_needs)
        return task._replace(state="waiting", because=why)
    because = (f"{task.key} can start from the {task.item.base_words}",)
    return task._replace(state="ready", because=because, next=start_next(facts, (task,)))


def start_next(facts: Facts, ready: tuple[TaskState, ...]) -> Next:
    keys = tuple(task.key for task in ready)
    return Next(
        "dispatch-tasks",
        "engine",
        f"Make branches and work trees for {', '.join(keys)}: run `qrspi next {facts.run}`.",
        tuple(f"{task.key} can start from the {task.item.base_words}" for task in ready),
        step=facts.step,
        missing=keys,
        inputs=tuple(task.item.file for task in ready),
        command=f"qrspi next {facts.run}",
        kind="start-tasks",
    )


def _stuck(facts: Facts, task: TaskState, lost: str) -> TaskState:
    why = f"{task.key} builds on {lost}, which ended without a commit"
    answer = Next(
        "decide",
        "human",
        f"{why}: leave it out with `qrspi task skip {facts.run} {task.key} --reason TEXT`, or give "
        f"it another base in the plan (`qrspi rewind {facts.run} --to plan`).",
        (why,),
        step=task.key,
        options=OPTIONS[1:],
        command=f"qrspi task skip {facts.run} {task.key} --reason TEXT",
        kind="task",
    )
    return task._replace(state="stuck", because=(why,), next=answer)


def _implementing(facts: Facts, task: TaskState, why: str) -> TaskState:
    task = task._replace(state="implementing", because=(f"{task.key}: {why}",))
    return task._replace(next=implement_next(facts, (task,)))


def implement_next(facts: Facts, tasks: tuple[TaskState, ...]) -> Next:
    """Who is sent where: one implementer a task, each in its own work tree."""
    places = ", ".join(f"{task.key} in {task.start.worktree}" for task in tasks if task.start)
    several = len(tasks) > 1
    who, each = ("implementers", "Each") if several else ("an implementer", "It")
    name = "TASK" if several else tasks[0].key
    report = f"qrspi task report {facts.run} {name} --status DONE --commit SHA"
    return Next(
        "dispatch-tasks",
        "agent",
        f"Send {who}: {places}. {each} ends with `{report}`.",
        tuple(reason for task in tasks for reason in task.because),
        step=facts.step if several else tasks[0].key,
        missing=tuple(task.key for task in tasks),
        inputs=tuple(path for task in tasks for path in (task.item.file, *task.findings)),
        prompts=tuple(task.prompt for task in tasks),
        command=f"qrspi task report {facts.run} {tasks[0].key} --status DONE --commit SHA",
        kind="implement",
    )


def _undecided(facts: Facts, task: TaskState, state: State, why: str) -> TaskState:
    command = f"qrspi task accept {facts.run} {task.key} --reason TEXT"
    answer = Next(
        "decide",
        "human",
        f"{why}. `{command}` takes it as it is, `task skip` leaves it out; a new report of its "
        "implementer goes on.",
        (why,),
        step=task.key,
        round=task.loop.number if task.loop else 0,
        inputs=(task.item.file, *task.findings),
        options=OPTIONS,
        command=command,
        kind="task",
    )
    return task._replace(state=state, because=(why,), next=answer)


def _reviewed(facts: Facts, task: TaskState, commit: str) -> TaskState:
    loop = _loop(facts, task.key)
    task = task._replace(loop=loop)
    if task.reopened and task.reopened.commit == commit:
        return _implementing(facts, task, "it was sent back and nothing new is reported")
    match loop.stage:
        case "fixing":
            return _fixing(facts, task, loop, commit)
        case "closed":
            return _closed(facts, task, loop, commit)
        case "abandoned" if _saw(loop) == commit:
            return _implementing(facts, task, "its last round was left, and nothing new is there")
        case _:
            return _in_loop(facts, task, loop)


def _loop(facts: Facts, key: str) -> Loop:
    base = approvals.loop_base(facts.records, key)
    return loops.evaluate(facts.tree, subject_of(key), facts.config, base)


def _saw(loop: Loop) -> str:
    """The commit that the newest round looked at."""
    return loop.manifest.commit if loop.manifest else ""


def _in_loop(facts: Facts, task: TaskState, loop: Loop) -> TaskState:
    answer = reviewing.from_loop(facts, _in_tiers(loop))
    if answer.action == "assemble":
        answer = answer._replace(kind="assemble-task")
    state: State = "undecided" if answer.who == "human" else "reviewing"
    return task._replace(state=state, because=answer.because, next=answer)


def _in_tiers(loop: Loop) -> Loop:
    """Later reviewers are not sent before earlier ones have written."""
    if loop.stage != "reviewing" or loop.round is None:
        return loop
    due = tiers.due(loop.round.silent_tags)
    later = len(loop.round.silent_tags) - len(due)
    because = tuple(f"{tag} has written nothing yet" for tag in due)
    if later:
        because += (f"{later} more are sent when they have",)
    return loop._replace(because=because, round=loop.round._replace(silent_tags=due))


def _rounds_used(facts: Facts, task: TaskState) -> int:
    """The task's rounds since it was last sent back by a person."""
    since = task.reopened.round if task.reopened else 0
    return sum(number > since for number in loops.rounds(facts.tree, subject_of(task.key)))


def _fixing(facts: Facts, task: TaskState, loop: Loop, commit: str) -> TaskState:
    if _saw(loop) != commit:
        answer = reviewing.from_loop(facts, loop._replace(stage="committing"))
        because = (f"{task.key} reported a new commit since round {loop.number}",)
        answer = answer._replace(kind="settle-task", because=because)
        return task._replace(state="fixing", because=because, next=answer)
    if _rounds_used(facts, task) > FIX_CYCLES:
        return _undecided(facts, task, "undecided", _used_up(task, loop))
    answer = reviewing.from_loop(facts, loop)
    start = task.start
    assert start is not None
    findings = len(loop.to_apply)
    summary = (
        f"Send an implementer for {task.key} again, in {start.worktree}: {findings} finding(s) of "
        f"round {loop.number} to settle. It ends with `qrspi task report {facts.run} {task.key} "
        "--status DONE --commit SHA`."
    )
    answer = answer._replace(
        summary=summary,
        prompts=(task.prompt,),
        missing=(),
        command=f"qrspi task report {facts.run} {task.key} --status DONE --commit SHA",
        kind="implement",
    )
    return task._replace(state="fixing", because=loop.because, next=answer)


def _used_up(task: TaskState, loop: Loop) -> str:
    return f"{task.key} had {FIX_CYCLES} fix cycles and round {loop.number} still has findings"


def _closed(facts: Facts, task: TaskState, loop: Loop, commit: str) -> TaskState:
    if _saw(loop) != commit:
        return _unreviewed(facts, task, loop)
    if loop.clean and loop.fresh:
        return task._replace(state="clean", because=(f"round {loop.number} was clean",))
    if not loop.fresh:
        return _implementing(facts, task, f"{task.item.file} changed since round {loop.number}")
    if not loop.to_apply:
        why = f"Round {loop.number} of {task.key} was skipped, or all its findings were"
        return _undecided(facts, task, "undecided", why)
    if _rounds_used(facts, task) > FIX_CYCLES:
        return _undecided(facts, task, "undecided", _used_up(task, loop))
    return _implementing(facts, task, f"no commit is reported since round {loop.number}")


def _unreviewed(facts: Facts, task: TaskState, loop: Loop) -> TaskState:
    """There is a commit that no round looked at."""
    if facts.config.review_mode == "single" and _rounds_used(facts, task):
        why = (
            f"{task.key} was changed after round {loop.number}, and review_mode in config.md is "
            "single: nobody looks at it again"
        )
        return _undecided(facts, task, "undecided", why)
    because = (f"{task.key} reported a commit that no round has looked at",)
    answer = reviewing.from_loop(facts, loop._replace(stage="abandoned", because=because))
    return task._replace(state="reviewing", because=because, next=answer)
