"""Tasks that only a person starts: drafts, worked on elsewhere, or stopped by the quality gate."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts.task_file import task_path
from qrspi.core.code_steps import task_state
from qrspi.core.code_steps.batch import Item
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.gates.quality import quality_gate
from qrspi.core.gates.quality.quality_gate import QualityGate, TaskVerdict
from qrspi.core.model import Ask, Next, Option
from qrspi.core.pipeline import subject_of
from qrspi.core.records import import_record
from qrspi.core.rounds import round_list
from qrspi.core.steps.facts import Facts
from qrspi.core.text.shell_words import answers

QUALITY_OPTIONS = (
    Option("refine", "leave them until their texts are better, and have them reviewed again"),
    Option("proceed", "start them as they are; that you said so is kept"),
)


def gated(facts: Facts, states: tuple[TaskState, ...]) -> tuple[TaskState, ...]:
    gate = QualityGate(facts.tree)
    return tuple(_gated(facts, gate, task) if task.state == "ready" else task for task in states)


def _gated(facts: Facts, gate: QualityGate, task: TaskState) -> TaskState:
    if quality_gate.is_exempt(task.key):
        return task
    standing = gate.standing(task.key)
    why = standing.because
    if standing.passes:
        why += "; a person let it through" if standing.let_through else ""
        return task._replace(because=(*task.because, why))
    question = ask(facts, (standing,))
    return task._replace(state="held", because=(why,), next=question, held_by=standing)


def ask(facts: Facts, held: tuple[TaskVerdict, ...]) -> Next:
    """One question about all of them."""
    keys = tuple(standing.task for standing in held)
    count = "1 task has" if len(held) == 1 else f"{len(held)} tasks have"
    shown = "; ".join(one.because for one in held[:3])
    more = f"; and {len(held) - 3} more" if len(held) > 3 else ""
    run = facts.run
    ways = answers(f"qrspi resolve {run}", [option.key for option in QUALITY_OPTIONS])
    return Next(
        action="decide",
        who="human",
        summary=(
            f"{count} no PASS for the text as it is ({shown}{more}). Have them reviewed with "
            f"`qrspi quality batch {run}`, or answer {ways}; one "
            f"alone is started with `qrspi task start {run} {keys[0]} --anyway`."
        ),
        because=tuple(one.because for one in held),
        step=facts.step,
        missing=keys,
        inputs=tuple(map(task_path, keys)),
        asks=_asks(facts, held),
        options=QUALITY_OPTIONS,
        command=f"qrspi quality batch {run}",
        kind="quality",
    )


def _asks(facts: Facts, held: tuple[TaskVerdict, ...]) -> tuple[Ask, ...]:
    """Who is asked about the held tasks: nobody where the gate only looks up earlier verdicts."""
    gates = facts.config.gates
    if gates is None or gates.quality == "cache-only":
        return ()
    return tuple(Ask("quality", "quality", target=one.task) for one in held if one.needs_reviewer)


def was_worked_on_elsewhere(facts: Facts, key: str) -> bool:
    places = (subject_of(key).reviews, round_list.SHARED)
    return any(import_record.last(facts.tree, place) for place in places)


def imported(facts: Facts, task: TaskState) -> TaskState:
    why = f"{task.key} was worked on elsewhere, in rounds that are unproven"
    command = f"qrspi task accept {facts.run} --imported --reason TEXT"
    ways = (
        f"`{command}` takes all such tasks as they are; `qrspi task start {facts.run} {task.key}` "
        "begins this one again."
    )
    inputs = (task.item.file,)
    return task_state.left_to_person(task, "imported", why, f"{why}. {ways}", command, inputs)


def listed(facts: Facts, items: Iterable[Item]) -> tuple[TaskState, ...]:
    """Also of tasks whose texts are drafts: those have no next action of their own."""
    return tuple(_as_drafted(facts, task) for task in task_state.survey(facts, items))


_UNBEGUN: tuple[task_state.State, ...] = ("ready", "waiting", "held", "refused", "stuck")


def _as_drafted(facts: Facts, task: TaskState) -> TaskState:
    draft = not task.item.is_repair and facts.tasks.get(task.key) != "approved"
    if not draft or task.state not in _UNBEGUN:
        return task
    why = f"{task.item.file} is a draft: nobody starts it before its plan counts"
    return task._replace(state="drafted", because=(why,), next=None)
