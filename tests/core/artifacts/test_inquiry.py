"""Which questions are open, and which are answered together."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts.inquiry import Inquiry, inquiry, named
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
@pytest.mark.parametrize(
    ("name", "ids", "still"),
    [
        ("q01-codebase", "[Q1, Q3]", ["q02-hybrid"]),
        ("q01-codebase", "[1, 2, q03]", []),
        ("q01-codebase", "Q3", ["q02-hybrid", "q03-web"]),
        ("q01-codebase", "[Q3x, 99999]", ["q02-hybrid", "q03-web"]),
        ("q01-q03-codebase", "[]", []),
        ("notes", "[Q2]", ["q01-codebase", "q02-hybrid", "q03-web"]),
    ],
)
def test_one_answer_may_be_for_several_questions(name: str, ids: str, still: list[str]) -> None:
    files = {
        "questions.md": runs.artifact("approved", TEXT),
        f"research/{name}.md": f"---\nquestion_ids: {ids}\n---\n# Q\n".encode(),
    }
    found = inquiry(runs.tree(files), configs.read(runs.config("full")))
    assert [one.name for one in found.open] == still


GROUPED = (
    "# Questions\n\n1. [codebase] Where?\n2. [web] What?\n3. [codebase, with Q1] Who?\n"
    "4. [codebase, with Q3] When?\n"
)


def grouped(answers: dict[str, str], again: tuple[str, ...] = ()) -> list[tuple[str, list[int]]]:
    files = {"questions.md": runs.artifact("approved", GROUPED)}
    files |= {f"research/{name}.md": text.encode() for name, text in answers.items()}
    found = inquiry(runs.tree(files), configs.read(runs.config("full")), again)
    return [(one.name, [each.number for each in one.questions]) for one in found.open]


def answer(ids: str = "") -> str:
    return f"---\nstatus: draft\n{f'question_ids: [{ids}]' if ids else ''}\n---\n# Q\n"


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("answers", "again", "open_"),
    [
        ({}, (), [("q01-codebase", [1, 3, 4]), ("q02-web", [2])]),
        ({"q01-codebase": "Q1, Q3, Q4", "q02-web": ""}, (), []),
        ({"q01-codebase": "Q1, Q4", "q02-web": ""}, (), [("q03-codebase", [3])]),
        ({"q01-codebase": "", "q02-web": ""}, (), [("q03-codebase", [3, 4])]),
        ({"q03-codebase": "Q3, Q4", "q02-web": ""}, (), [("q01-codebase", [1])]),
        (
            {"q01-codebase": "Q1, Q3, Q4", "q02-web": ""},
            ("q01-codebase",),
            [("q01-codebase", [1, 3, 4])],
        ),
        (
            {"q01-codebase": "Q1, Q4", "q03-codebase": "", "q02-web": ""},
            ("q01-codebase",),
            [("q01-codebase", [1, 4])],
        ),
        (
            {"q01-codebase": "", "q03-codebase": "Q3, Q4"},
            ("q03-codebase",),
            [("q02-web", [2]), ("q03-codebase", [3, 4])],
        ),
    ],
)
def test_whoever_answers_one_question_answers_those_that_join_it(answers, again, open_) -> None:
    assert sorted(grouped({name: answer(ids) for name, ids in answers.items()}, again)) == open_


@pytest.mark.rule("LIV-22")
def test_words_about_a_question_are_about_the_answer_that_it_stands_in() -> None:
    files = {
        "questions.md": runs.artifact("approved", GROUPED),
        "research/q01-codebase.md": answer("Q1, Q4").encode(),
        "research/q03-codebase.md": answer().encode(),
    }
    tree, config = runs.tree(files), configs.read(runs.config("full"))
    found = [named(tree, config, words) for words in (b"Q4 is thin", b"Q3", b"Q1 and Q4", b"none")]
    assert found == [("q01-codebase",), ("q03-codebase",), ("q01-codebase",), ()]


@pytest.mark.rule("DSR-01")
def test_the_budget_counts_questions_and_not_researchers() -> None:
    files = {"questions.md": runs.artifact("approved", GROUPED)}
    found = inquiry(runs.tree(files), configs.read(runs.config("quick", question_budget="3")))
    assert [one.ids for one in found.open] == [("Q1", "Q3"), ("Q2",)]
    assert [one.number for one in found.left] == [4]


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
