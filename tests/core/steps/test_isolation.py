"""Research is kept apart from what is wanted."""

from __future__ import annotations

import pytest

from qrspi.core.derivation.derive import derive
from qrspi.core.pipeline import subject_of
from qrspi.core.steps import isolation
from qrspi.core.tree import MemoryTree
from tests.runs import approved, artifact, config

GOALS = artifact(
    "approved",
    """\
# Goals

## G1 Sign in by mail

**Problem**: members forget their password and wait a day until somebody resets it by hand.

**What we know so far**: sessions are kept in one table of the main database for a month.

## Limits we must keep

- The mail server sends at most four hundred messages in an hour.
""",
)
LEAK = "Members forget their password and wait a day until"
FACT = "Sessions are kept in one table of the main database for a month."
LIMIT = "The mail server sends at most four hundred messages in an hour."


def told(step: str, **files: str) -> list[str]:
    given = {name.replace("__", "/") + ".md": artifact(body=text) for name, text in files.items()}
    tree = MemoryTree({"goals.md": GOALS} | given)
    return [problem.message for problem in isolation.breaches(tree, subject_of(step))]


def test_a_question_that_repeats_the_goals_is_named() -> None:
    asked = f"# Questions\n\n1. [web] What is known?\n2. [codebase] {LEAK} when?\n"
    assert told("questions", questions=asked) == [
        'questions.md: question 2 repeats words of goals.md ("members forget their password and '
        'wait a day"), and whoever looks for facts must not know what is wanted; say it in other '
        "words"
    ]


@pytest.mark.parametrize(
    "text", [FACT, LIMIT, "Members forget their password and ask.", "", "# Questions"]
)
def test_facts_limits_and_short_likeness_are_no_breach(text: str) -> None:
    assert told("questions", questions=f"# Questions\n\n1. [codebase] {text} Where?\n") == []
    assert told("research", research__q01_web=text, questions="# Questions\n") == []


WANTED = artifact(
    "approved",
    """\
# Goals

The owner copies orders by hand.

## G1 Only the days that matter

**Problem**: the books are done by month. The file has everything, from the first day on.
""",
)


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    "text",
    [
        "Which code keeps only the days that matter?",  # the title of a goal
        "Why is it that the books are done by month?",  # a sentence of five to seven words
        "The owner _copies_ orders by *hand*: where?",
        "The owner cop\u200bies orders by hand: where?",
        "\uff34he owner copies orders by hand: where?",
        "The file has everything, from the first day: why?",
        "What does docs/qrspi/2026-05-17-user-auth say?",
    ],
)
def test_a_question_cannot_tell_what_is_wanted_in_disguise(text: str) -> None:
    files = {"goals.md": WANTED, "questions.md": artifact(body=f"1. [web] {text}\n")}
    tree = MemoryTree(files, name="2026-05-17-user-auth")
    assert len(isolation.breaches(tree, subject_of("questions"))) == 1


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    "text",
    [
        "Which modules read orders, and which fields of one are unusual?",
        "Who writes the file, from the first run on?",
        "How are days kept, and which of them matter to the reader of a month?",
        "What does user-auth of the framework check, and where is `goals.md` read?",
        "The books: by whom are they done?",
    ],
)
def test_an_honest_question_about_the_same_things_passes(text: str) -> None:
    files = {"goals.md": WANTED, "questions.md": artifact(body=f"1. [codebase] {text}\n")}
    tree = MemoryTree(files, name="2026-05-17-user-auth")
    assert isolation.breaches(tree, subject_of("questions")) == ()


def test_an_answer_may_have_a_short_sentence_of_the_goals() -> None:
    answer = artifact(body="# Q1\n\nThe books are done by month (books.py:L3).\n")
    files = {"goals.md": WANTED, "questions.md": artifact(), "research/q01-web.md": answer}
    assert isolation.breaches(MemoryTree(files), subject_of("research")) == ()


def test_an_answer_may_repeat_its_question_and_nothing_else_of_what_is_wanted() -> None:
    (message,) = told("research", questions="# Questions", **{"research__q01-web": f"# Q\n{LEAK}"})
    assert message.startswith("research/q01-web.md: repeats words of goals.md (")
    same = {"research__q01-web": f"# Q\n\n{LEAK}\n"}
    assert told("research", questions=f"1. [web] {LEAK}", **same) == []


def test_the_request_is_not_told_either() -> None:
    words = "please let our members come in with a link"
    (message,) = told("questions", request=words, questions=f"1. [web] How to {words}?")
    assert "words of request.md" in message


@pytest.mark.parametrize(
    ("summary", "found"),
    [
        ('The note says "users are kept in one table".', 0),
        ("The note says “users are kept … in the main database”.", 0),
        ("> Users are kept in one table", 0),
        ('It is "one table" and more.', 0),
        ('```\n"this is only code that is shown"\n```', 0),
        ('The note says "users are kept in two tables".', 1),
        ("> Users are never kept anywhere", 1),
        ("It says “users are kept … in a file”.", 1),
    ],
)
def test_a_quotation_is_of_an_answer(summary: str, found: int) -> None:
    answer = {"research__q01-web": "Users are kept in one table, in the main database.\n"}
    problems = told("research", research__summary=summary, questions="1. [web] Where?", **answer)
    assert len(problems) == found


def test_the_line_of_a_quotation_is_that_of_the_file() -> None:
    summary = 'Words.\n\nIt says "nobody has ever said this".\n'
    assert told("research", research__summary=summary) == [
        "research/summary.md:7: no answer in research/ has the words "
        '"nobody has ever said this"; quote an answer word for word'
    ]


def test_nobody_is_sent_to_a_text_that_breaks_it() -> None:
    asked = artifact(body=f"# Questions\n\n1. [web] {LEAK} when?\n")
    files = {"config.md": config(), **approved("goals"), "goals.md": GOALS, "questions.md": asked}
    answer = derive(MemoryTree(files)).next
    assert (answer.action, answer.kind, answer.missing) == (
        "blocked",
        "isolation",
        ("questions.md",),
    )
    files["questions.md"] = artifact(body="# Questions\n\n1. [web] How long do links live?\n")
    assert derive(MemoryTree(files)).next.action == "prepare-round"


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Look at the newer standard.", None),
        (FACT, None),
        (LIMIT, None),
        (f"No! {LEAK} it is mended.", "members forget their password and wait a day"),
        (f"As {'2026-05-17-user-auth'} says.", "2026-05-17-user-auth"),
        ("A user-auth of another kind.", None),
    ],
)
def test_what_a_person_says_to_researchers_does_not_tell_either(
    words: str, told: str | None
) -> None:
    found = isolation.told_by(MemoryTree({"goals.md": GOALS}), "2026-05-17-user-auth", words)
    assert (found.found if found else None) == told
