"""The one next action over many tasks: what the engine can do, then agents, then people."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.code_steps.task_state import TaskState, implement_next, start_next
from qrspi.core.model import Next
from qrspi.core.steps.facts import Answer, Facts


def pick(facts: Facts, states: tuple[TaskState, ...]) -> Answer | None:
    """None when every task has come to its end.

    Reviews come before implementers: a host that asks again while some of those are still at
    work must not be told to send them twice.
    """
    waiting = tuple((task, task.next) for task in states if task.next)
    found = _first(waiting, lambda answer: answer.who == "engine" and answer.kind != "start-tasks")
    if found:
        return found
    if ready := tuple(task for task in states if task.state == "ready"):
        return Answer(start_next(facts, ready))
    found = _first(waiting, lambda answer: answer.who == "agent" and answer.kind != "implement")
    found = found or _first(waiting, lambda answer: answer.action == "apply-fixes")
    if found:
        return found
    if sent := tuple(task for task in states if task.state == "implementing"):
        return Answer(implement_next(facts, sent), sent[0].loop)
    return _first(waiting, lambda answer: answer.who == "human")


def _first(
    waiting: tuple[tuple[TaskState, Next], ...], fits: Callable[[Next], bool]
) -> Answer | None:
    return next((Answer(answer, task.loop) for task, answer in waiting if fits(answer)), None)
