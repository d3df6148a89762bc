"""An answer for several questions has a part for each."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts.inquiry import QuestionGroup, answer_fault, with_ids
from qrspi.core.artifacts.questions import Question

ONE = QuestionGroup((Question(1, "web", "a"),))
TWO = QuestionGroup((Question(1, "web", "a"), Question(12, "web", "b", 1)))
WHOLE = """---
status: draft
---
# Q1, Q12

## Q1 a

### Summary

It is so [1].

### Findings

## Q12 b

### Summary
#### In short
So it is [2].
"""


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (WHOLE, ""),
        (WHOLE.replace("## Q1 a", "## Question 01: a"), ""),
        (WHOLE.replace("## Q12 b", "## Q2 b"), "Q12"),
        (WHOLE.replace("So it is [2].\n", "").replace("#### In short\n", ""), "Q12"),
        (WHOLE.replace("It is so [1].", ""), "Q1"),
        (WHOLE.replace("It is so [1].", "```\n## Q1 a\n### Summary\nSo.\n```"), "Q1"),
        (WHOLE.replace("### Summary", "### Findings"), "Q1, Q12"),
        ("# Q\n\nNo parts.\n", "Q1, Q12"),
        ("", "Q1, Q12"),
    ],
)
def test_each_question_has_a_summary(text: str, lacks: str) -> None:
    found = answer_fault(text.encode(), TWO)
    first = lacks.partition(",")[0]
    assert (found.message if found else "") == (
        f"research/q01-web.md has no summary of {lacks}; expected `## {first}`, and text below its "
        "`### Summary`"
        if lacks
        else ""
    )
    assert answer_fault(text.encode(), ONE) is None


@pytest.mark.rule("DSR-01")
@pytest.mark.parametrize("claimed", ["", "question_ids: [Q1, Q99]\n"])
def test_an_answer_is_for_what_was_asked_whatever_it_claims(claimed: str) -> None:
    text = f"---\nstatus: draft\n{claimed}---\n# Q\n".encode()
    assert with_ids(text, ONE) == b"---\nstatus: draft\n---\n# Q\n"
    assert with_ids(text, TWO) == b"---\nstatus: draft\nquestion_ids: [Q1, Q12]\n---\n# Q\n"
