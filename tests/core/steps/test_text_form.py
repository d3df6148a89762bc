"""What a text has at least, before anybody reviews it."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import ROUTES, STEP
from qrspi.core.steps import text_form
from qrspi.core.tree import MemoryTree
from tests.runs import RUN, approved, artifact, config, tree

ROWS = [
    ("goals", "Okay, will do.\n", "goals.md has no goal; expected headings with text below them"),
    ("goals", "# Goals\n\n## G1 One\n", ""),
    (
        "questions",
        "Certainly! Here are my questions: where is the ledger?\n",
        "questions.md has no question; expected a list such as `1. [codebase] Which modules …?`",
    ),
    (
        "questions",
        "# Questions\n\n```\n1. [web] What?\n```\n",
        "questions.md has no question; expected a list such as `1. [codebase] Which modules …?`",
    ),
    ("questions", "- [web] What?\n", ""),
    (
        "research",
        " \n",
        "research/summary.md has no text; expected what was found, or that nothing was",
    ),
    ("research", "Nothing was asked.\n", ""),
    ("design", "null\n", "design.md has no section; expected headings with text below them"),
    ("design", "Design\n======\n", ""),
    ("design", "Choices\n-------\n\nOne.\n", ""),
    ("structure", "   Modules\n ---\n", ""),
    (
        "design",
        "Two parts.\n\n---\n\nNo heading.\n",
        "design.md has no section; expected headings with text below them",
    ),
    (
        "design",
        "- a list\n---\n\n=====\n",
        "design.md has no section; expected headings with text below them",
    ),
    (
        "phasing",
        "```\n# No\n```\n",
        "phasing.md has no section; expected headings with text below them",
    ),
    ("structure", "#No\n", "structure.md has no section; expected headings with text below them"),
    (
        "plan",
        "# Plan\n\nOkay, will do.\n",
        "plan.md has no task; expected a table of tasks, and tasks/task-NN.md for each",
    ),
    ("plan", "## Task 1: Links\n", ""),
    ("parallelize", "Okay, will do.\n", ""),
]


@pytest.mark.rule("LIV-17", "LIV-18")
@pytest.mark.parametrize(("step", "body", "said"), ROWS)
def test_what_a_text_lacks(step: str, body: str, said: str) -> None:
    files = MemoryTree({STEP[step].artifact: artifact(body=body)})
    assert [one.message[: len(said)] for one in text_form.faults(files, step)] == [said][
        : len(said)
    ]


@pytest.mark.rule("LIV-17")
def test_tasks_may_be_in_files_alone() -> None:
    files = {"plan.md": artifact(body="Okay.\n"), "tasks/task-01.md": artifact()}
    assert text_form.faults(MemoryTree(files), "plan") == ()


@pytest.mark.rule("LIV-18")
@pytest.mark.parametrize(("step", "who"), [("goals", "human"), ("questions", "agent")])
def test_no_round_is_opened_before(step: str, who: str) -> None:
    earlier = ROUTES["quick"][: ROUTES["quick"].index(step)]
    text = {STEP[step].artifact: artifact(body="Okay, will do.\n")}
    answer = derive(tree({"config.md": config("quick")}, approved(*earlier), text)).next
    (why,) = answer.because
    assert (answer.action, answer.who, answer.kind) == ("blocked", who, "form")
    assert answer.summary == f"{why}. Correct it, then run `qrspi next {RUN}`."
    assert [(ask.kind, ask.subject) for ask in answer.asks] == [("author", step)]
