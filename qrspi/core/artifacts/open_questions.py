"""Which questions research still waits for: one answer file each, before the summary."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.artifacts import questions
from qrspi.core.artifacts.questions import Question
from qrspi.core.config.reader import Config
from qrspi.core.model import Problem
from qrspi.core.tree import Fault, Tree


class Inquiry(NamedTuple):
    open: tuple[Question, ...] = ()
    left: tuple[Question, ...] = ()  # beyond the budget: nobody is sent
    warnings: tuple[Problem, ...] = ()

    @property
    def not_dispatched(self) -> tuple[str, ...]:
        """The sentence that lists them, if there are any."""
        if not self.left:
            return ()
        names = ", ".join(question.name for question in self.left)
        return (f"not dispatched, as question_budget in config.md is used up: {names}",)


def inquiry(tree: Tree, config: Config) -> Inquiry:
    data = tree.read(questions.ARTIFACT)
    if isinstance(data, Fault):
        return Inquiry()
    asked, warnings = questions.parse(data)
    planned = questions.research(asked, config)
    unanswered = (question for question in planned.sent if _is_open(tree, question))
    return Inquiry(tuple(unanswered), planned.left, warnings)


def _is_open(tree: Tree, question: Question) -> bool:
    found = tree.head(question.file)
    return isinstance(found, Fault) and found.kind == "absent"
