"""The steps that produce code: implement here, integrate and test in modules of their own."""

from __future__ import annotations

from qrspi.core.code_steps import batch
from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import task_choice as workload
from qrspi.core.code_steps import task_state as taskstate
from qrspi.core.code_steps.batch import Batch
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.model import Next, Option, Problem
from qrspi.core.pipeline import STEP, is_full
from qrspi.core.records import baseline, feedback
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.steps import authoring
from qrspi.core.steps import review_action as reviewing
from qrspi.core.steps.facts import Answer, Facts, artifact_status
from qrspi.core.tree import Fault

RERUN = "reviews/integration/rerun.md"  # a person wants all tasks reviewed together
BATCH_OPTIONS = (
    Option("continue", "approve implementation.md and go on"),
    Option("rerun-reviews", "have all tasks reviewed together"),
    Option("fix", "send implementers again for what is still open"),
    Option("stop", "leave everything as it is"),
)
# While one of these holds, somebody is still at the gate's own review.
_OPEN = ("reviewing", "guarded", "verifying", "failed", "scored", "paused", "committing")


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    if facts.config.code_path is None and not facts.tree.in_git:
        return Answer(_no_repository(facts)), ()
    bad = artifact_status(facts.tree, facts.step)[1]
    if bad and facts.statuses.get(facts.step) == "invalid":
        return Answer(blocked_by(facts, (bad,))), ()
    match facts.step:
        case "integrate":
            from qrspi.core.code_steps import integrate as integration

            return integration.answer(facts)
        case "test":
            from qrspi.core.code_steps import test as testing

            return testing.answer(facts)
        case _:
            return _implement(facts)


def _no_repository(facts: Facts) -> Next:
    why = f"{facts.step} needs a git repository with the code, and the run is in none"
    return Next(
        "blocked",
        "human",
        f"{why}: make one with `git init`, or name it with `qrspi config set {facts.run} code_path "
        "DIR`.",
        (why,),
        step=facts.step,
        missing=("a git repository",),
        command="git init",
        kind="prerequisite",
    )


def _implement(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    found = batch.read(facts)
    if found.problems:
        return Answer(blocked_by(facts, found.problems)), ()
    taken = baseline.read(facts.tree)
    if taken and not taken.passed and taken.choice == "pending":
        return Answer(_failing_baseline(facts, taken)), found.warnings
    states = working(facts, found)
    chosen = workload.pick(facts, states) or _batch_gate(facts, found)
    return chosen, found.warnings + (chosen.loop.warnings if chosen.loop else ())


def blocked_by(facts: Facts, problems: tuple[Problem, ...]) -> Next:
    more = f" (+{len(problems) - 1} more)" if len(problems) > 1 else ""
    return Next(
        "blocked",
        "human",
        f"{problems[0].message}{more}. Correct it, then run `qrspi next {facts.run}`.",
        tuple(problem.message for problem in problems),
        step=facts.step,
        missing=tuple(dict.fromkeys(problem.file for problem in problems)),
        command=f"qrspi task list {facts.run}",
        kind="plan",
    )


def working(facts: Facts, found: Batch) -> tuple[TaskState, ...]:
    """What is worked on: the batch, or on a quick run in a fix round the repairs of that round."""
    if is_full(facts.route):
        return taskstate.survey(facts, found.items)
    for fixes in reversed(batch.fix_rounds(facts.tree)):
        states = taskstate.survey(facts, batch.repairs(facts.tree, (fixes,)).items)
        if not all(task.terminal for task in states):
            return states
    return taskstate.survey(facts, found.items)


def everything(facts: Facts, found: Batch) -> tuple[TaskState, ...]:
    """The tasks of the phase and, on a quick run, the repairs as well."""
    fixes = () if is_full(facts.route) else batch.repairs(facts.tree).items
    return taskstate.survey(facts, (*found.items, *fixes))


def _failing_baseline(facts: Facts, taken: baseline.Baseline) -> Next:
    why = f"the tests failed before the first task (exit {taken.exit}, {baseline.LOG})"
    return Next(
        "decide",
        "human",
        f"The baseline is not green: {why}. `qrspi resolve {facts.run} auto-fix|proceed|stop`.",
        (why,),
        step=facts.step,
        inputs=(baseline.FILE, baseline.LOG),
        options=baseline.OPTIONS,
        command=f"qrspi resolve {facts.run} auto-fix",
        kind="baseline",
    )


def _batch_gate(facts: Facts, found: Batch) -> Answer:
    states = everything(facts, found)
    artifact = STEP["implement"].artifact
    data = facts.tree.read(artifact)
    loop = loops.evaluate(
        facts.tree, taskstate.subject_of("implement-gate"), facts.config, facts.base
    )
    if needs_draft(data, gaterecords.implementation(states)):
        return Answer(draft(facts, artifact, "draft-implementation"), loop)
    if rejected := rejected_by(facts, data):
        return Answer(sent_back(facts, rejected), loop)
    if loop.stage in _OPEN:
        return Answer(reviewing.from_loop(facts, loop), loop)
    if gaterecords.fields(facts.tree.read(RERUN)).get("after") == str(loop.highest):
        asked = loop._replace(stage="abandoned", because=("a person asked for it at the gate",))
        return Answer(reviewing.from_loop(facts, asked)._replace(kind="rerun-reviews"), loop)
    return Answer(_ask(facts, states, loop), loop)


def needs_draft(data: bytes | Fault, block: str) -> bool:
    """Whether the record is missing, or does not say what is counted now."""
    if isinstance(data, Fault):
        return data.kind == "absent"
    there = gaterecords.counted(data)
    return there is not None and there != block.strip()


def draft(facts: Facts, artifact: str, kind: str) -> Next:
    return Next(
        "author",
        "engine",
        f"Write down in {artifact} what was done: run `qrspi next {facts.run}`.",
        (f"{artifact} does not say what is counted now",),
        step=facts.step,
        missing=(artifact,),
        command=f"qrspi next {facts.run}",
        kind=kind,
    )


def rejected_by(facts: Facts, artifact: bytes | Fault) -> str:
    """The newest feedback, while the record is still the one it rejects."""
    if "feedback" not in facts.names or isinstance(artifact, Fault):
        return ""
    path = authoring.newest_feedback(facts.tree, facts.step)
    data = facts.tree.read(path) if path else Fault("absent")
    return path if not isinstance(data, Fault) and feedback.quotes(data, artifact) else ""


def sent_back(facts: Facts, path: str) -> Next:
    artifact = STEP[facts.step].artifact
    return Next(
        "author",
        "agent",
        f"{artifact} was rejected: put right what {path} says and report the tasks it is about "
        f"again (`qrspi task report {facts.run} TASK`), or answer it in {artifact}.",
        (f"{artifact} is still the text that {path} rejects",),
        step=facts.step,
        inputs=(artifact, path),
        command=f"qrspi task list {facts.run}",
        kind="author",
    )


def _review(loop: Loop) -> str:
    if loop.stage == "fixing":
        return f"A review of them together found {loop.kept} thing(s) in round {loop.number}"
    return gate.review_status(loop)[0]


def _ask(facts: Facts, states: tuple[TaskState, ...], loop: Loop) -> Next:
    counts = {state: sum(task.state == state for task in states) for state in taskstate.TERMINAL}
    listed = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    review = f" {_review(loop)}." if loop.number else ""
    return Next(
        "approve",
        "human",
        f"Every task has come to its end ({listed or 'there was none'}).{review} Read "
        f"implementation.md, then `qrspi resolve {facts.run} continue|rerun-reviews|fix|stop`.",
        (f"{len(states)} task(s): {listed or 'none'}",),
        step=facts.step,
        round=loop.number,
        inputs=("implementation.md",),
        options=BATCH_OPTIONS,
        command=f"qrspi resolve {facts.run} continue",
        kind="batch",
    )
