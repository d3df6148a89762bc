"""The one next action over many tasks."""

from __future__ import annotations

from collections.abc import Callable

from qrspi.core.code_steps import implementers
from qrspi.core.code_steps.task_state import TaskState, start_next
from qrspi.core.model import Next
from qrspi.core.steps.facts import Answer, Facts


def pick(facts: Facts, states: tuple[TaskState, ...]) -> Answer | None:
    """What the engine can do, then agents, then people.
    None when every task has come to its end.

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
        return _with_others(found, waiting)
    if sent := tuple(task for task in states if task.state == "implementing"):
        return Answer(implementers.send(facts, sent), sent[0].loop)
    if held := tuple(task for task in states if task.state == "held"):
        return Answer(_held_next(facts, held))
    return _first(waiting, lambda answer: answer.who == "human")


def _with_others(found: Answer, waiting: tuple[tuple[TaskState, Next], ...]) -> Answer:
    """Reviewers and verifiers of other tasks need not wait for those of the first."""
    others = [
        answer
        for task, answer in waiting
        if answer.who == "agent" and answer.action in ("review", "verify") and answer.asks
        if task.key != found.next.step
    ]
    if not others or found.next.action not in ("review", "verify"):
        return found
    words = "; ".join(map(_awaited, others))
    summary = f"{found.next.summary} At the same time: {words}."
    asks = tuple(ask for answer in others for ask in answer.asks)
    return found._replace(next=found.next._replace(summary=summary, beside=asks))


def _awaited(answer: Next) -> str:
    noun = "reviewer" if answer.action == "review" else "finding to score"
    plural = "reviewers" if answer.action == "review" else "findings to score"
    count = len(answer.asks)
    tags = ", ".join(ask.target for ask in answer.asks)
    many = noun if count == 1 else plural
    return f"{count} {many} of {answer.step} round {answer.round} ({tags})"


def _held_next(facts: Facts, held: tuple[TaskState, ...]) -> Next:
    from qrspi.core.code_steps import held_tasks

    return held_tasks.next_action(facts, held)


def _first(
    waiting: tuple[tuple[TaskState, Next], ...], fits: Callable[[Next], bool]
) -> Answer | None:
    return next((Answer(answer, task.loop) for task, answer in waiting if fits(answer)), None)
