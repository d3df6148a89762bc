from __future__ import annotations

import json

import pytest

from qrspi.core.gates.checkpoints import checkpoint_lists, checkpoint_summary
from qrspi.core.gates.checkpoints.checkpoint_lists import LISTS, UNANSWERED
from qrspi.core.gates.checkpoints.checkpoint_summary import Summary
from qrspi.core.model import Problem


@pytest.mark.rule("CK-10")
def test_there_are_three_checklists() -> None:
    lengths = {name: len(set(questions)) for name, questions in LISTS.items()}
    assert lengths == {"facts": 8, "strategy": 7, "situation": 6}


@pytest.mark.rule("GTD-22")
def test_what_is_not_answered_is_kept_as_that() -> None:
    said = {"situation": ["no", 0, None], "strategy": {"7": True}}
    found = checkpoint_lists.read(json.dumps(said).encode(), "a.json")
    assert found == {
        "facts": [UNANSWERED] * 8,
        "strategy": [UNANSWERED] * 6 + [True],
        "situation": ["no", 0] + [UNANSWERED] * 4,
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "list"),
        ('{"fact": []}', "fact: no such checklist"),
        ('{"facts": "yes"}', "facts: neither a list nor an object"),
        ('{"strategy": {"8": 1}}', "strategy: no question 8"),
        ('{"situation": [1, 2, 3, 4, 5, 6, 7]}', "situation: no question 7"),
        ('{"facts": [[]]}', "facts: the answer to 1 is neither a text, a number nor yes or no"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, found: str) -> None:
    problem = checkpoint_lists.read(text.encode(), "a.json")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.file, problem.found) == ("answers-invalid", "a.json", found)


GOOD = "Plan and instructions are high quality. Proceed confidently."
ADEQUATE = "Plan is adequate but instructions could be more precise."
SYSTEMIC = "Systemic issue — investigate plan quality, not just individual tasks."


@pytest.mark.rule("CK-07", "GTD-20")
@pytest.mark.parametrize(
    ("scores", "average", "worst", "meaning", "outlier"),
    [
        ([3, 3], 3.0, 3, GOOD, ""),
        ([3, 4], 3.5, 4, ADEQUATE, ""),
        ([5, 5], 5.0, 5, SYSTEMIC, ""),
        ([1, 7], 4.0, 7, ADEQUATE, "task-02"),
        ([7, 8], 7.5, 8, SYSTEMIC, ""),
    ],
)
def test_the_summary_of_a_phase(
    scores: list[int], average: float, worst: int, meaning: str, outlier: str
) -> None:
    tasks = [f"task-{at:02d}" for at, _ in enumerate(scores, 1)]
    found = checkpoint_summary.of([*tasks, "task-09"], dict(zip(tasks, scores, strict=True)))
    assert found[1:] == (average, worst, meaning, outlier)
    assert found.tasks[-1] == ("task-09", None)


def test_nothing_reviewed_has_no_average() -> None:
    assert checkpoint_summary.of([], {}) == Summary(())
