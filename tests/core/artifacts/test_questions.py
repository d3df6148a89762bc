"""Reading questions.md, and what a budget leaves of it."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts.questions import (
    Inquiry,
    Question,
    Research,
    inquiry,
    parse,
    research,
)
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from tests import runs


def _parsed(text: str) -> tuple[Question, ...]:
    questions, warnings = parse(text.encode())
    assert warnings == ()
    return questions


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "---\nstatus: approved\n---\n\n# Questions\n\n"
            "1. [codebase] Where are sessions read?\n\n"
            "2. [web] What do browsers limit?\n"
            "   Name versions.\n"
            "3) [hybrid] Which version is used?\n",
            (
                Question(1, "codebase", "Where are sessions read?"),
                Question(2, "web", "What do browsers limit?\nName versions."),
                Question(3, "hybrid", "Which version is used?"),
            ),
        ),
        (
            "1. [web] a\n1. [web] b\n1. [Codebase] c\n7. [web] d\n",
            (
                Question(1, "web", "a"),
                Question(2, "web", "b"),
                Question(3, "codebase", "c"),
                Question(7, "web", "d"),
            ),
        ),
        (
            "# Questions\n## Q1: [codebase] Where?\n1. in which file\n2. in which test\n"
            "### Q2 [web]\nWho says so?\n## Notes\n1. not a question\n",
            (
                Question(1, "codebase", "Where?\n1. in which file\n2. in which test"),
                Question(2, "web", "Who says so?"),
            ),
        ),
        (
            "- **Q1.** [web] a\n- Q2: [codebase] b\n- [hybrid] c\n- an aside\n",
            (
                Question(1, "web", "a"),
                Question(2, "codebase", "b"),
                Question(3, "hybrid", "c\n- an aside"),
            ),
        ),
        (
            "1. [web] a\n\n```\n2. [web] fenced\n```\n\n~~~~\n```\n3. [web] x\n~~~~\n2. [web] b",
            (Question(1, "web", "a"), Question(2, "web", "b")),
        ),
        ("1. [web] a\n\n## Out of scope\n\nNot 2. this\n", (Question(1, "web", "a"),)),
        ("Nothing here.\n", ()),
        ("1.\n2. [web]\n", ()),
        ("", ()),
    ],
)
def test_questions_are_read(text, expected):
    assert _parsed(text) == expected


@pytest.mark.rule("DSR-01")
def test_a_question_without_a_kind_is_asked_everywhere_and_said_so():
    questions, warnings = parse(b"1. Who?\n2. [web] What?\n")
    assert questions == (Question(1, "hybrid", "Who?"), Question(2, "web", "What?"))
    assert [warning.message for warning in warnings] == [
        "questions.md: question 1 has no kind; expected [codebase], [web] or [hybrid] before its "
        "text; taken as hybrid"
    ]


@pytest.mark.rule("DSR-01")
def test_each_question_has_its_answers_file():
    files = [Question(3, "codebase", "x").file, Question(112, "web", "x").file]
    assert files == ["research/q03-codebase.md", "research/q112-web.md"]


THREE = tuple(Question(number, "web", "x") for number in (1, 2, 3))


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("pipeline", "budget", "sent"),
    [("quick", 2, 2), ("quick", 3, 3), ("quick", 50, 3), ("full", None, 3), ("full", 1, 3)],
)
def test_the_budget_binds_the_quick_pipeline_only(pipeline, budget, sent):
    config = Config(pipeline=pipeline, question_budget=budget)
    assert research(THREE, config) == Research(THREE[:sent], THREE[sent:])


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize("data", [b"\xff\xfe1. [web] x", b"1. [web] a\x00b", b"\n" * 10_000])
def test_any_bytes_are_read(data):
    parse(data)


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
