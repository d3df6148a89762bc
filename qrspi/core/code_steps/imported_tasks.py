"""Tasks that were worked on elsewhere: they are never begun again unless a person wants it."""

from __future__ import annotations

from qrspi.core.code_steps.task_state import OPTIONS, TaskState
from qrspi.core.model import Next
from qrspi.core.pipeline import subject_of
from qrspi.core.records import import_record
from qrspi.core.rounds import round_list
from qrspi.core.steps.facts import Facts


def was_worked_on(facts: Facts, key: str) -> bool:
    """Rounds of its own say so, or rounds about all tasks together."""
    places = (subject_of(key).reviews, round_list.SHARED)
    return any(import_record.last(facts.tree, place) for place in places)


def standing(facts: Facts, task: TaskState) -> TaskState:
    why = f"{task.key} was worked on elsewhere, in rounds that are unproven"
    command = f"qrspi task accept {facts.run} --imported --reason TEXT"
    answer = Next(
        action="decide",
        who="human",
        summary=f"{why}. `{command}` takes all such tasks as they are; `qrspi task start "
        f"{facts.run} {task.key}` begins this one again.",
        because=(why,),
        step=task.key,
        inputs=(task.item.file,),
        options=OPTIONS,
        command=command,
        kind="task",
    )
    return task._replace(state="imported", because=(why,), next=answer)
