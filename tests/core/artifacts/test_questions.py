"""Reading questions.md, and what a budget leaves of it."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts.questions import (
    Question,
    Research,
    parse,
    research,
)
from qrspi.core.config.reader import Config


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
        (
            "1. [codebase]\n\nWhere?\n\n   In which file?\n\n- in tests too\n2. [web] b\nlazily",
            (
                Question(1, "codebase", "Where?\n\nIn which file?\n\n- in tests too"),
                Question(2, "web", "b\nlazily"),
            ),
        ),
        (
            "# Q\n\n## Q1 [web]\n\nWho?\n\nSince when?\n",
            (Question(1, "web", "Who?\n\nSince when?"),),
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
@pytest.mark.rule("DSR-01")
def test_what_stands_below_the_list_is_shown_to_no_researcher() -> None:
    below = "1. [web] a\n2. [web] b\n\nThese are for the *rent* by post.\n\nAll of it.\n"
    questions, warnings = parse(below.encode())
    assert questions == (Question(1, "web", "a"), Question(2, "web", "b"))
    assert [warning.message for warning in warnings] == [
        "questions.md: the paragraph below question 2 belongs to no question, and no researcher "
        "sees it; expected more of a question indented, or nothing"
    ]


def test_a_question_without_a_kind_is_asked_everywhere_and_said_so():
    questions, warnings = parse(b"1. Who?\n2. [web] What?\n")
    assert questions == (Question(1, "hybrid", "Who?"), Question(2, "web", "What?"))
    assert [warning.message for warning in warnings] == [
        "questions.md: question 1 has no kind; expected [codebase], [web] or [hybrid] before its "
        "text; taken as hybrid"
    ]


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("tag", "joins"),
    [
        ("[web, with Q1]", 1),
        ("[web with q01]:", 1),
        ("**[Web,  with 1]**", 1),
        ("[web, with Q3]", 1),  # which is answered with Q1 itself
        ("[web]", 0),
    ],
)
def test_a_question_may_be_answered_with_an_earlier_one(tag, joins):
    listed = f"1. [web] a\n2. [codebase] b\n3. [web, with Q1] c\n4. {tag} d\n"
    assert _parsed(listed)[2:] == (Question(3, "web", "c", 1), Question(4, "web", "d", joins))


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("tag", "why"),
    [
        ("[web, with Q2]", "Q2 is for [codebase]"),
        ("[web, with Q3]", "no question before it has that number"),
        ("[web, with Q9]", "no question before it has that number"),
    ],
)
def test_a_question_that_cannot_join_another_is_asked_alone(tag, why):
    questions, (warning,) = parse(f"1. [web] a\n2. [codebase] b\n3. {tag} c\n".encode())
    assert questions[2] == Question(3, "web", "c")
    assert warning.message == (
        f"questions.md: question 3 is to be answered with Q{tag[-2]}, but {why}; expected the "
        "number of an earlier question for [web]; asked alone"
    )


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
