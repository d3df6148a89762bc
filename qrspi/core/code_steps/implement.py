"""The steps that produce code: implement here, integrate and test in modules of their own."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.code_steps import (
    baseline,
    batch,
    feature_branch,
    gate_records,
    implementers,
    task_state,
)
from qrspi.core.code_steps.batch import Batch
from qrspi.core.code_steps.task_state import TaskState, start_next
from qrspi.core.config import problems as config_problems
from qrspi.core.model import Next, NextKind, Option, Problem, counted
from qrspi.core.pipeline import STEP, is_full, subject_of
from qrspi.core.records.decisions import UNRECORDED
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round, authoring, next_actions, review_action
from qrspi.core.steps.facts import Answer, Facts, artifact_status
from qrspi.core.text.shell_words import answers
from qrspi.core.tree import Fault

RERUN = "reviews/integration/rerun.md"  # a person wants all tasks reviewed together
BATCH_OPTIONS = (
    Option("rerun-reviews", "have all tasks reviewed together"),
    Option("fix", "send implementers again for what is still open"),
    Option("stop", "leave everything as it is"),
)
# While one of these holds, the gate's own review is not finished.
_OPEN = ("reviewing", "guarded", "verifying", "failed", "scored", "paused", "committing")


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    if facts.config.code_path is None and not facts.tree.in_git:
        return Answer(_no_repository(facts)), ()
    bad = artifact_status(facts.tree, facts.step)[1]
    if bad and facts.statuses.get(facts.step) == "invalid":
        return Answer(blocked_by(facts, (bad,))), ()
    match facts.step:
        case "integrate":
            from qrspi.core.code_steps import integrate

            return integrate.answer(facts)
        case "test":
            from qrspi.core.code_steps import test

            return test.answer(facts)
        case _:
            return _gated(facts, *_implement(facts))


def _gated(
    facts: Facts, answer: Answer, warnings: tuple[Problem, ...]
) -> tuple[Answer, tuple[Problem, ...]]:
    if not facts.config.has_checkpoints:
        return answer, warnings
    from qrspi.core.gates.checkpoints import checkpoint_gate

    gated, odd = checkpoint_gate.before(facts, answer)
    return gated, warnings + odd


def _no_repository(facts: Facts) -> Next:
    why = f"{facts.step} needs a git repository with the code, and the run is in none"
    return Next(
        action="blocked",
        who="human",
        summary=f"{why}: make one with `git init`, or name it with `qrspi config set {facts.run} "
        "code_path DIR`.",
        because=(why,),
        step=facts.step,
        missing=("a git repository",),
        command="git init",
        kind="prerequisite",
    )


def _implement(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    due = batch.read(facts)
    if due.problems:
        return Answer(blocked_by(facts, due.problems)), ()
    taken = baseline.read(facts.tree)
    if taken and _is_asked(facts, taken):
        return Answer(_about_baseline(facts, taken)), due.warnings
    states = working(facts, due)
    begun = any(task.start or task.terminal or task.state == "imported" for task in states)
    if not (begun or facts.config.said_of_tests):
        return Answer(_ask_for_tests(facts)), due.warnings
    chosen = pick_action(facts, states) or _batch_gate(facts, due)
    older = tuple(
        batch.older_base(task.key, task.start, task.moved)
        for task in states
        if task.start and task.moved and task.state == "implementing"
    )
    chosen = _with_aside(facts, chosen, states)
    return chosen, due.warnings + older + (chosen.loop.warnings if chosen.loop else ())


def _with_aside(facts: Facts, chosen: Answer, states: tuple[TaskState, ...]) -> Answer:
    """A task that cannot go on without a person waits for one at once, whatever others do."""
    left = [task.next for task in states if task.next and _needs_person(task, task.next)]
    aside = tuple(following for following in left if following != chosen.next)
    if not aside or chosen.next.who == "human":
        return chosen._replace(aside=aside)
    keys = ", ".join(following.step for following in aside)
    verb = "waits" if len(aside) == 1 else "wait"
    said = f"{chosen.next.summary} {keys} {verb} for a person: `qrspi inbox` says why."
    return chosen._replace(next=chosen.next._replace(summary=said), aside=aside)


def _needs_person(task: TaskState, following: Next) -> bool:
    return following.kind == "task" or task.state == "broken"


def _ask_for_tests(facts: Facts) -> Next:
    """Before the first task starts, because implementers are told which command runs the tests."""
    setting = config_problems.naming(facts.run)
    return Next(
        action="decide",
        who="human",
        summary=f"Which command runs the tests? Say it with `{setting}`, with none in place of "
        "'CMD' when nothing runs them.",
        because=("config.md has no gates.test_command, and nobody has said that there is none",),
        step=facts.step,
        options=(
            Option("command", "this command runs the tests", setting),
            Option("none", "nothing runs them", setting.replace("'CMD'", "none")),
        ),
        command=setting,
        kind="test-command",
    )


def blocked_by(facts: Facts, problems: tuple[Problem, ...]) -> Next:
    following = next_actions.blocked_by(facts, "plan", problems)
    return following._replace(command=f"qrspi task list {facts.run}")


def working(facts: Facts, due: Batch) -> tuple[TaskState, ...]:
    if is_full(facts.route):
        return task_state.survey(facts, due.items)
    for fixes in reversed(batch.fix_rounds(facts.tree)):
        states = task_state.survey(facts, batch.repairs(facts.tree, (fixes,)).items)
        if not all(task.terminal for task in states):
            return states
    return task_state.survey(facts, due.items)


def everything(facts: Facts, due: Batch) -> tuple[TaskState, ...]:
    fixes = () if is_full(facts.route) else batch.repairs(facts.tree).items
    states = task_state.survey(facts, (*due.items, *fixes))
    return tuple(implementers.recalled(facts, task) for task in states)


def _is_asked(facts: Facts, taken: baseline.Baseline) -> bool:
    """What another command than the present one showed needs no decision."""
    if taken.command != facts.config.said_of_tests:
        return False
    return taken.state != "passed" and taken.choice == "pending"


def _about_baseline(facts: Facts, taken: baseline.Baseline) -> Next:
    why = f"before the first task the tests {taken.sentence}; their output: {baseline.LOG}"
    started = taken.state != "not-run"
    options = baseline.OPTIONS if started else baseline.UNKNOWN
    resolve = f"qrspi resolve {facts.run}"
    correct = config_problems.naming(facts.run)
    way = "" if started else f"Correct the command with `{correct}`, or go on without them: "
    return Next(
        action="decide",
        who="human",
        summary=f"{why[0].upper()}{why[1:]}. {way}"
        f"{answers(resolve, [option.key for option in options])}.",
        because=(why,),
        step=facts.step,
        inputs=(baseline.FILE, baseline.LOG),
        options=options,
        command=f"{resolve} auto-fix" if started else correct,
        kind="baseline",
    )


def _batch_gate(facts: Facts, due: Batch) -> Answer:
    states = everything(facts, due)
    artifact = STEP["implement"].artifact
    data = facts.tree.read(artifact)
    loop = loops.evaluate(
        facts.tree, subject_of("implement-gate"), facts.config, facts.base, facts.records
    )
    if needs_draft(data, gate_records.implementation(states)):
        return Answer(draft(facts, artifact, "draft-implementation"), loop)
    if rejected := authoring.rejected_by(facts, data):
        return Answer(sent_back(facts, rejected), loop)
    if loop.stage in _OPEN:
        return Answer(review_action.from_loop(facts, loop), loop)
    if gate_records.fields(facts.tree.read(RERUN)).get("after") == str(loop.highest):
        because = (f"{RERUN} asks for it",)
        return Answer(review_action.prepare_next(facts, loop, because, kind="rerun-reviews"), loop)
    return Answer(_ask(facts, states, loop), loop)


def needs_draft(data: bytes | Fault, block: str) -> bool:
    if isinstance(data, Fault):
        return data.kind == "absent"
    there = gate_records.counted(data)
    return there is not None and there != block.strip()


def draft(facts: Facts, artifact: str, kind: NextKind) -> Next:
    what = f"Write down in {artifact} what was done"
    because = (f"{artifact} does not say what is counted now",)
    return next_actions.by_engine(facts, "author", kind, what, because, missing=(artifact,))


def sent_back(facts: Facts, path: str) -> Next:
    artifact = STEP[facts.step].artifact
    return Next(
        action="author",
        who="agent",
        summary=f"{artifact} was rejected: put right what {path} says and report the tasks it is "
        f"about again (`qrspi task report {facts.run} TASK`), or answer it in {artifact}.",
        because=(f"{artifact} is still the text that {path} rejects",),
        step=facts.step,
        missing=(artifact,),
        inputs=(artifact, path),
        command=f"qrspi task list {facts.run}",
        kind="author",
    )


def _review(facts: Facts, loop: Loop) -> str:
    if loop.stage == "fixing":
        things = counted(loop.kept, "thing")
        return f"A review of them together found {things} in round {loop.round}"
    return after_round.at_gate(facts, loop)[0]


def _continuing(facts: Facts, states: tuple[TaskState, ...]) -> str:
    """What follows the approval is said before the person gives it."""
    from qrspi.core.code_steps import integrate

    to_merge = integrate.pending(facts.tree, (task for task in states if task.reviewed))
    keys = ", ".join(task.key for task in to_merge)
    if not keys:
        return "approve implementation.md; there is nothing to merge"
    if feature_branch.is_unnamed(facts):
        return f"approve implementation.md; then say which branch to merge {keys} into"
    into = feature_branch.name(facts) or "the branch you are on"
    return f"approve implementation.md, and merge {keys} into {into}"


def _batch_options(facts: Facts, states: tuple[TaskState, ...], loop: Loop) -> tuple[Option, ...]:
    """The recommended option comes first: to go on, or what a review that is not clean asks for.
    Where nothing is open, nobody is sent again."""
    is_open = loop.stage == "fixing" or any(task.state == "accepted-with-issues" for task in states)
    others = (option for option in BATCH_OPTIONS if is_open or option.key != "fix")
    options = (Option("continue", _continuing(facts, states)), *others)
    settled = after_round.is_settled(facts, loop)
    if not loop.round or settled or after_round.at_gate(facts, loop)[1]:
        return options
    first = "fix" if loop.stage == "fixing" else "rerun-reviews"
    return tuple(sorted(options, key=lambda option: option.key != first))


def _unseen(states: tuple[TaskState, ...], batch_loop: Loop) -> tuple[str, ...]:
    loops_of = (batch_loop, *(task.loop for task in states if task.loop))
    lines = [line for loop in loops_of for line in after_round.unseen(loop)]
    more = (f"There are {len(lines) - 3} more such files",) if len(lines) > 3 else ()
    return (*lines[:3], *more)


def _first_tests(states: tuple[TaskState, ...]) -> str:
    seen = [(implementers.first_tests(task), task.key) for task in states if task.reviewed]
    counts = [
        f"those of {', '.join(keys)} {words}"
        for how, words in implementers.SEEN_BEFORE.items()
        if (keys := [key for known, key in seen if known == how])
    ]
    return f" Of the tests before the code, {'; '.join(counts)}." if counts else ""


def _ask(facts: Facts, states: tuple[TaskState, ...], loop: Loop) -> Next:
    counts = {state: sum(task.state == state for task in states) for state in task_state.TERMINAL}
    listed = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    ended = f"Every task has come to its end ({listed or 'there was none'})"
    review = f" {_review(facts, loop)}." if loop.round else ""
    keys = ", ".join(task.key for task in states if task.outcome and not task.decided)
    options = _batch_options(facts, states, loop)
    resolve = f"qrspi resolve {facts.run}"
    claimed = f" Of {keys} only a file says so; {UNRECORDED}." if keys else ""
    doubted = ", ".join(task.key for task in states if task.concerns)
    concerns = f" Who implemented {doubted} has concerns." if doubted else ""
    concerns += "".join(f" {line}." for line in _unseen(states, loop))
    return Next(
        action="approve",
        who="human",
        summary=f"{ended}.{claimed}{concerns}{_first_tests(states)}{review} Read "
        f"implementation.md, then {answers(resolve, [option.key for option in options])}.",
        because=(ended,),
        step=facts.step,
        round=loop.round,
        inputs=("implementation.md",),
        options=options,
        command=f"{resolve} {options[0].key}",
        kind="batch",
        care=gate_records.outside_care(states),
    )


def pick_action(facts: Facts, states: tuple[TaskState, ...]) -> Answer | None:
    """The one next action over many tasks: what the engine can do, then agents, then people. None
    when every task has come to its end.

    Reviews come before implementers, who may all be at work already.
    """
    waiting = tuple((task, task.next) for task in states if task.next)
    first = _first(waiting, lambda answer: answer.who == "engine" and answer.kind != "start-tasks")
    if first:
        return first
    if ready := tuple(task for task in states if task.state == "ready"):
        return Answer(start_next(facts, ready))
    first = _first(waiting, lambda answer: answer.who == "agent" and answer.kind != "implement")
    first = first or _first(waiting, lambda following: following.action == "apply-fixes")
    if first:
        return _with_others(first, states)
    if sent := tuple(task for task in states if task.state == "implementing"):
        return Answer(implementers.send(facts, sent, now=True), sent[0].loop)
    if held := tuple(task for task in states if task.state == "held"):
        from qrspi.core.code_steps import held_tasks

        return Answer(held_tasks.ask(facts, tuple(task.held_by for task in held if task.held_by)))
    return _first(waiting, lambda answer: answer.who == "human")


def _with_others(first: Answer, states: tuple[TaskState, ...]) -> Answer:
    """Agents of other tasks need not wait for those of the first task."""
    others = [
        (task, task.next)
        for task in states
        if task.next and task.next.who == "agent" and task.next.asks
        if task.key != first.next.step
    ]
    if not others:
        return first
    words = "; ".join(_awaited(task, answer) for task, answer in others)
    summary = f"{first.next.summary} At the same time: {words}."
    asks = tuple(ask for _, answer in others for ask in answer.asks)
    read = (*first.next.inputs, *(path for _, answer in others for path in answer.inputs))
    inputs = tuple(dict.fromkeys(read))
    return first._replace(next=first.next._replace(summary=summary, beside=asks, inputs=inputs))


def _awaited(task: TaskState, answer: Next) -> str:
    if answer.action not in ("review", "verify"):
        place = f" in {task.start.worktree}" if task.start else ""
        return f"{implementers.who(task)} of {task.key}{place}, unless one is at work there"
    review = answer.action == "review"
    what = counted(len(answer.asks), "reviewer" if review else "finding")
    tags = ", ".join(ask.label for ask in answer.asks)
    return f"{what}{'' if review else ' to score'} of {answer.step} round {answer.round} ({tags})"


def _first(
    waiting: tuple[tuple[TaskState, Next], ...], fits: Callable[[Next], bool]
) -> Answer | None:
    return next((Answer(answer, task.loop) for task, answer in waiting if fits(answer)), None)
