"""Where one task stands, from its records and its review rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core import reviewers
from qrspi.core.code_steps import allowed_files, batch, implementers
from qrspi.core.code_steps.batch import Item, MovedBase
from qrspi.core.hints import TYPE_CHECKING, Literal
from qrspi.core.model import Ask, Next, Option, Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals, decisions, import_record, task_records
from qrspi.core.records.approvals import Record
from qrspi.core.records.task_records import ENDINGS, Refused, Reopened, Report, Start, TaskOutcome
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import round_list
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round, next_actions, review_action, sending
from qrspi.core.steps.facts import Facts

if TYPE_CHECKING:
    from qrspi.core.gates.quality.quality_gate import TaskVerdict

FIX_CYCLES = 3

State = Literal[
    "drafted",  # its text is not approved; only a list of tasks has it
    "waiting",  # until a task it builds on is reviewed
    "ready",  # to be started
    "imported",  # it was worked on elsewhere: a person takes it as it is, or begins it again
    "held",  # it could start if its text had a PASS
    "refused",  # its branch or work tree belongs to somebody else
    "stuck",  # a task it builds on was left out
    "implementing",
    "blocked",  # its implementer says so
    "reviewing",
    "fixing",
    "undecided",  # a person accepts it, skips it, or sends it back
    "broken",  # a record that cannot be read
    "clean",
    "accepted",  # with issues, says the outcome, and none of them is open
    "accepted-with-issues",
    "skipped-by-user",
]
TERMINAL: tuple[State, ...] = ("clean", "accepted", *ENDINGS)
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
    outcome: TaskOutcome | None = None
    decided: Record | None = None  # who ended it, on record
    reopened: Reopened | None = None
    loop: Loop | None = None
    held_by: TaskVerdict | None = None  # why the quality gate does not let it start
    moved: tuple[MovedBase, ...] = ()  # what it is built on has changed since it was started
    tests: Report | None = None  # what was said of the tests that come before the code
    awaits_tests: bool = False
    outside: task_records.Outside = task_records.Outside()  # than it allows

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
    def reviewed(self) -> str:
        return self.commit if self.terminal and self.state != "skipped-by-user" else ""

    @property
    def concerns(self) -> str:
        report = self.report
        return report.text if report and report.status == "DONE_WITH_CONCERNS" else ""

    @property
    def cycle(self) -> int:
        """How often an implementer was sent, this time included."""
        return (self.loop.round if self.loop else 0) + 1

    @property
    def ask(self) -> Ask:
        return implementers.asked(self)

    @property
    def findings(self) -> tuple[str, ...]:
        sent_back = self.reopened.findings if self.reopened else ()
        if self.loop is None or self.loop.clean:
            return sent_back
        folder = self.loop.paths.directory
        own = (f"{folder}/{item.finding.file}" for item in self.loop.to_apply)
        return (*sent_back, *own)


def survey(facts: Facts, items: Iterable[Item]) -> tuple[TaskState, ...]:
    """The items come wave by wave, so everything that a task builds on comes before it."""
    states: dict[str, TaskState] = {}
    for item in items:
        states[item.key] = evaluate(facts, item, states)
    return _gated(facts, tuple(states.values()))


def _gated(facts: Facts, states: tuple[TaskState, ...]) -> tuple[TaskState, ...]:
    gates = facts.config.gates
    if gates is None or gates.quality == "off":
        return states
    from qrspi.core.code_steps import held_tasks

    return held_tasks.gated(facts, states)


def evaluate(facts: Facts, item: Item, earlier: Mapping[str, TaskState]) -> TaskState:
    tree, key = facts.tree, item.key
    start, report = task_records.start(tree, key), task_records.report(tree, key)
    outcome, reopened = task_records.outcome(tree, key), task_records.reopened(tree, key)
    for record in (start, report, outcome, reopened):
        if isinstance(record, Problem):
            return _broken(facts, item, record)
    assert not (isinstance(start, Problem) or isinstance(report, Problem))
    assert not (isinstance(outcome, Problem) or isinstance(reopened, Problem))
    task = TaskState(item, "ready", start=start, report=report, outcome=outcome, reopened=reopened)
    if report and report.outside.number:
        task = task._replace(outside=allowed_files.still(tree.read(item.file), report.outside))
    if task.outcome:
        return _ended(facts, task, task.outcome)
    if task.start is None and import_record.FILE in facts.names:
        from qrspi.core.code_steps import held_tasks

        if held_tasks.was_worked_on_elsewhere(facts, key):
            return held_tasks.imported(facts, task)
    if task.start is None:
        return _before_start(facts, task, earlier)
    if task.report is None:
        return _unreported(facts, task, task.start, earlier)
    if not task.report.done:
        return _blocked(facts, task._replace(loop=_loop(facts, key)))
    if not task.commit:
        return _implementing(facts, task, "what was reported is the commit it started from")
    return _reviewed(facts, task, task.report.commit)


def _ended(facts: Facts, task: TaskState, outcome: TaskOutcome) -> TaskState:
    ending, decided = decisions.end_of(facts.records, task.key, outcome)
    why, loop = decisions.ended(outcome, decided), _loop(facts, task.key)
    task = task._replace(state=ending, because=(why,), loop=loop, decided=decided)
    settled = loop.nothing_open(task.commit) if task.state == "accepted-with-issues" else ""
    return task._replace(state="accepted", because=(why, settled)) if settled else task


def _broken(facts: Facts, item: Item, problem: Problem) -> TaskState:
    following = next_actions.blocked_by(facts, "invalid", (problem,))._replace(step=item.key)
    return TaskState(item, "broken", (problem.message,), following)


def _before_start(facts: Facts, task: TaskState, earlier: Mapping[str, TaskState]) -> TaskState:
    needs = [earlier[need] for need in task.item.needs if need in earlier]
    if lost := [need for need in needs if need.terminal and not need.reviewed]:
        from qrspi.core.code_steps import blocked_tasks

        return blocked_tasks.stuck(facts, task, lost[0])
    if waits := [need for need in needs if not need.reviewed]:
        why = tuple(f"{need.key} is not reviewed yet: it is {need.state}" for need in waits)
        return task._replace(state="waiting", because=why)
    if refused := task_records.refused(facts.tree, task.key):
        return _refused(facts, task, refused)
    return _ready(facts, task, (f"{task.key} can start from the {task.item.base_words}",))


def _ready(facts: Facts, task: TaskState, because: tuple[str, ...]) -> TaskState:
    task = task._replace(state="ready", because=because)
    return task._replace(next=start_next(facts, (task,)))


def _refused(facts: Facts, task: TaskState, refused: Refused) -> TaskState:
    again = f"qrspi task start {facts.run} {task.key}"
    why = f"{task.key} could not be started: {refused.reason}"
    following = Next(
        action="blocked",
        who="human",
        summary=f"{why}. Then run `{again}`.",
        because=(why,),
        step=task.key,
        inputs=(task_records.refused_file(task.key),),
        command=refused.hint or again,
        kind="precondition",
    )
    return task._replace(state="refused", because=(why,), next=following)


def start_next(facts: Facts, ready: tuple[TaskState, ...]) -> Next:
    keys = tuple(task.key for task in ready)
    return next_actions.by_engine(
        facts,
        "dispatch-tasks",
        "start-tasks",
        f"Make branches and work trees for {', '.join(keys)}",
        tuple(reason for task in ready for reason in task.because),
        missing=keys,
        inputs=tuple(task.item.file for task in ready),
    )


def _unreported(
    facts: Facts, task: TaskState, start: Start, earlier: Mapping[str, TaskState]
) -> TaskState:
    """Until somebody works on it, a task is started again when what it builds on changes."""
    reviewed = {key: other.reviewed for key, other in earlier.items() if other.reviewed}
    task = task._replace(moved=batch.moved_bases(task.item, start, reviewed))
    if task.moved and not batch.is_told_of_moves(start, task.moved):
        return _ready(facts, task, tuple(one.words for one in task.moved))
    if facts.config.test_writer == "on":
        return _tests_first(facts, task)
    return _implementing(facts, task, "nobody has reported yet")


def _tests_first(facts: Facts, task: TaskState) -> TaskState:
    with_tests = implementers.with_tests(facts, task)
    if isinstance(with_tests, Problem):
        return _broken(facts, task.item, with_tests)
    if with_tests.tests and not with_tests.tests.done:
        return _blocked(facts, with_tests)
    why = "its tests are written first" if with_tests.awaits_tests else "nobody has reported yet"
    if with_tests.tests and with_tests.tests.is_vacuous:
        why = "its tests pass without its code, so they show nothing yet"
    return _implementing(facts, with_tests, why)


def _blocked(facts: Facts, task: TaskState) -> TaskState:
    from qrspi.core.code_steps import blocked_tasks

    return blocked_tasks.evaluate(facts, task)


def _implementing(facts: Facts, task: TaskState, why: str) -> TaskState:
    task = task._replace(state="implementing", because=(f"{task.key}: {why}",))
    return task._replace(next=implementers.send(facts, (task,)))


def _undecided(facts: Facts, task: TaskState, why: str) -> TaskState:
    command = f"qrspi task accept {facts.run} {task.key} --reason TEXT"
    summary = (
        f"{why}. `{command}` takes it as it is, `task skip` leaves it out; a new report of its "
        "implementer goes on."
    )
    inputs = (task.item.file, *task.findings)
    return left_to_person(task, "undecided", why, summary, command, inputs)


def left_to_person(
    task: TaskState,
    state: State,
    why: str,
    summary: str,
    command: str,
    inputs: tuple[str, ...] = (),
    options: tuple[Option, ...] = OPTIONS,
) -> TaskState:
    following = Next(
        action="decide",
        who="human",
        summary=summary,
        because=(why,),
        step=task.key,
        round=task.loop.round if task.loop else 0,
        inputs=inputs,
        options=options,
        command=command,
        kind="task",
    )
    return task._replace(state=state, because=(why,), next=following)


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


def settled_nothing(facts: Facts, task: TaskState, commit: str) -> Loop | None:
    """The newest round, when this commit was judged already and another one is awaited."""
    then = _reviewed(facts, task._replace(report=Report("DONE", commit)), commit)
    sent = then.state in ("implementing", "fixing") and then.next and then.next.who == "agent"
    return then.loop if sent else None


def _loop(facts: Facts, key: str) -> Loop:
    base = approvals.loop_base(facts.records, key)
    return loops.evaluate(facts.tree, subject_of(key), facts.config, base, facts.records)


def _saw(loop: Loop) -> str:
    return loop.manifest.commit if loop.manifest else ""


def _in_loop(facts: Facts, task: TaskState, loop: Loop) -> TaskState:
    following = review_action.from_loop(facts, _in_tiers(loop))
    state: State = "undecided" if following.who == "human" else "reviewing"
    return task._replace(state=state, because=following.because, next=following)


def _in_tiers(loop: Loop) -> Loop:
    """Later reviewers are not sent before the earlier ones have written."""
    if loop.stage != "reviewing" or loop.files is None:
        return loop
    due = reviewers.due(loop.files.silent_tags)
    later = len(loop.files.silent_tags) - len(due)
    because = tuple(f"{tag} has written nothing yet" for tag in due)
    if later:
        because += (f"{later} more are sent when they have",)
    return loop._replace(because=because, files=loop.files._replace(silent_tags=due))


def _rounds_used(facts: Facts, task: TaskState) -> int:
    subject = subject_of(task.key)
    reopened = task.reopened.round if task.reopened else 0
    since = max(reopened, import_record.last(facts.tree, subject.reviews))
    return sum(number > since for number in round_list.rounds(facts.tree, subject))


def _fixing(facts: Facts, task: TaskState, loop: Loop, commit: str) -> TaskState:
    if _saw(loop) != commit:
        because = (f"{task.key} reported a new commit since round {loop.round}",)
        following = review_action.commit_next(facts, loop, because, "settle-task")
        return task._replace(state="fixing", because=because, next=following)
    if given_up := _given_up(facts, task, loop):
        return given_up
    assert task.start is not None
    following = review_action.unprepared(facts, loop) or next_actions.about_round(
        facts,
        loop,
        "implement",
        f"Send an implementer for {task.key} again, in {task.start.worktree}: "
        f"{counted(len(loop.to_apply), 'finding')} of round {loop.round} to settle; "
        f"{sending.ways(facts, (task.ask,))}. It ends with `{implementers.report(facts, task)}`.",
        inputs=(task.item.file, *review_action.to_fix(loop)),
        missing=(task.key,),
        asks=(task.ask,),
    )
    return task._replace(state="fixing", because=loop.because, next=following)


def _given_up(facts: Facts, task: TaskState, loop: Loop) -> TaskState | None:
    if _rounds_used(facts, task) <= FIX_CYCLES:
        return None
    why = f"{task.key} had {FIX_CYCLES} fix cycles and round {loop.round} still has findings"
    return _undecided(facts, task, why)


def _closed(facts: Facts, task: TaskState, loop: Loop, commit: str) -> TaskState:
    if _saw(loop) != commit:
        return _unreviewed(facts, task, loop)
    if loop.clean and loop.fresh:
        return task._replace(state="clean", because=(f"round {loop.round} was clean",))
    if not loop.fresh:
        return _implementing(facts, task, f"{task.item.file} changed since round {loop.round}")
    if not loop.to_apply:
        return _undecided(facts, task, f"{task.key}: {after_round.review_status(loop)[0]}")
    why = f"no commit is reported since round {loop.round}"
    return _given_up(facts, task, loop) or _implementing(facts, task, why)


def _unreviewed(facts: Facts, task: TaskState, loop: Loop) -> TaskState:
    if facts.config.review_mode == "single" and _rounds_used(facts, task):
        why = (
            f"{task.key} was changed after round {loop.round}, and review_mode in config.md is "
            "single: nobody looks at it again"
        )
        return _undecided(facts, task, why)
    because = (f"{task.key} reported a commit that no round has looked at",)
    following = review_action.prepare_next(facts, loop, because)
    return task._replace(state="reviewing", because=because, next=following)
