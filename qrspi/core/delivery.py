"""The steps that produce code: implement, integrate, test."""

from __future__ import annotations

from qrspi.core.facts import Answer, Facts
from qrspi.core.model import Next, Problem


def answer(facts: Facts) -> tuple[Answer, tuple[Problem, ...]]:
    because = (f"{facts.step} has no approved record yet",)
    summary = f"Work on the tasks of {facts.step}: `qrspi task list {facts.run}` shows them."
    return Answer(Next("dispatch-tasks", "agent", summary, because, step=facts.step)), ()
