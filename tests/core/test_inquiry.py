"""Which questions are still open."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts.open_questions import Inquiry, inquiry
from qrspi.core.config import reader as configs
from tests import runs

TEXT = "# Questions\n\n1. [codebase] Where?\n2. What?\n3. [web] Who says so?\n"


def asked(pipeline: str = "full", *answered: str, **fields: str) -> Inquiry:
    files = {"questions.md": runs.artifact("approved", TEXT)}
    files |= {f"research/{name}.md": b"# Q\n" for name in answered}
    return inquiry(runs.tree(files), configs.read(runs.config(pipeline, **fields)))


@pytest.mark.rule("DSR-01")
def test_a_question_is_open_until_its_file_is_there() -> None:
    assert [one.name for one in asked().open] == ["q01-codebase", "q02-hybrid", "q03-web"]
    assert [one.name for one in asked("full", "q01-codebase").open] == ["q02-hybrid", "q03-web"]
    assert asked("full", "q01-codebase", "q02-hybrid", "q03-web").open == ()


@pytest.mark.rule("DSR-01")
def test_the_budget_of_a_quick_run_leaves_the_rest_unasked() -> None:
    found = asked("quick", "q01-codebase", question_budget="2")
    assert [one.name for one in found.open] == ["q02-hybrid"]
    assert found.not_dispatched == (
        "not dispatched, as question_budget in config.md is used up: q03-web",
    )
    assert asked("quick").not_dispatched == ()


def test_a_question_that_does_not_say_where_to_look_is_a_warning() -> None:
    assert [one.field for one in asked().warnings] == ["question 2"]


def test_without_questions_there_is_nothing_to_ask() -> None:
    assert inquiry(runs.tree({}), configs.read(runs.config())) == Inquiry()
