"""Verdicts, from rows as SQLite gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qrspi.core.gates.checkpoints import checkpoint_board, checkpoint_ruling, checkpoint_scale
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_ruling import (
    LISTS,
    RESET,
    UNANSWERED,
    Escalation,
    Reviewer,
    Ruling,
)
from qrspi.core.gates.checkpoints.checkpoint_scale import Summary
from qrspi.core.model import CheckpointRow, Problem
from qrspi.core.tree import Fault, MemoryTree
from tests.checkpoints import request

RUN = "2026-05-17-user-auth"
SILENT = Reviewer()


def board(*texts: str, state: str = "needs_review", reviews: Any = ()) -> Board:
    """One task that has asked so often."""
    asked = [(at, "task-01", "review_request", text) for at, text in enumerate(texts, 1)]
    return checkpoint_board.board([("task-01", state, 0)], asked, reviews)


def judged(
    found: Board, said: Reviewer = SILENT, estimate: float | None = None
) -> Ruling | Escalation | Problem:
    return checkpoint_ruling.judge(found, "task-01", said, estimate, RUN)


def ruled(found: Board, said: Reviewer = SILENT, estimate: float | None = None) -> Ruling:
    ruling = judged(found, said, estimate)
    assert isinstance(ruling, Ruling), ruling
    return ruling


def refused(found: Board, said: Reviewer = SILENT) -> Problem:
    problem = judged(found, said)
    assert isinstance(problem, Problem), problem
    return problem


SCALE = [
    *((score, "approve", "review_approved") for score in range(6)),
    *((score, "revision", "review_failed") for score in (6, 7)),
    *((score, "reject", "review_failed") for score in (8, 9)),
]


@pytest.mark.rule("CK-04")
@pytest.mark.parametrize(("score", "verdict", "state"), SCALE)
def test_the_scale(score: int, verdict: str, state: str) -> None:
    found = ruled(board(request(score)), Reviewer(read=True))
    assert (found.score, found.verdict, found.state) == (score, verdict, state)


@pytest.mark.rule("CK-04")
def test_a_five_is_approved_after_it_was_read() -> None:
    problem = refused(board(request(5)))
    assert (problem.code, problem.hint) == (
        "unread-proposal",
        f"qrspi checkpoint review {RUN} task-01 --read",
    )
    assert "docs/proposal.md" in problem.message
    assert ruled(board(request(5)), Reviewer(read=True)).verdict == "approve"


@pytest.mark.rule("CK-04")
def test_a_score_that_is_given_takes_the_place_of_the_reported_one() -> None:
    found = ruled(board(request(2)), Reviewer(score=8, message="The lock is missing."))
    assert (found.verdict, found.asked.request.smoothness) == ("reject", 2)
    assert found.message == (
        "REVIEW FAILED (Smoothness: 8/9):\n"
        "     Issue: The lock is missing.\n"
        "     Required: settle the issue before anything is built on it\n"
        "     Retry: send a new review_request for checkpoint 1 and set needs_review"
    )
    assert refused(board(request(2)), Reviewer(score=5)).code == "unread-proposal"


@pytest.mark.rule("GTD-19")
@pytest.mark.parametrize(
    ("own", "said", "code"),
    [
        (2, Reviewer(score=6), "feedback-needed"),
        (2, Reviewer(score=6, message=" "), "feedback-needed"),
        (7, Reviewer(score=6), "feedback-needed"),
        ("x", Reviewer(), "score-needed"),
        (5, Reviewer(), "unread-proposal"),
    ],
)
def test_what_a_verdict_needs(own: object, said: Reviewer, code: str) -> None:
    assert refused(board(request(own)), said).code == code


@pytest.mark.rule("GTD-19")
def test_a_reported_seven_needs_no_further_word() -> None:
    text = request(7) + "\n  Reason: the parser cannot be split"
    found = ruled(board(text))
    assert found.message.splitlines()[1] == "     Issue: the parser cannot be split"
    assert ruled(board(text), Reviewer(score=7)).verdict == "revision"


@pytest.mark.rule("CK-04", "GTD-19")
def test_an_approval_after_a_self_correction_resets_the_flag() -> None:
    corrected = board(request(2, corrected="YES (renamed twice)"))
    assert refused(corrected).code == "unread-proposal"
    assert ruled(corrected, Reviewer(read=True, message="Good."), 30).message == (
        f"REVIEW APPROVED: Good.\n     {RESET}\n     Proceed with remaining steps."
    )
    assert RESET not in ruled(board(request(2))).message
    assert RESET not in ruled(corrected, Reviewer(read=True), 19).message


@pytest.mark.rule("CK-04")
@pytest.mark.parametrize(("estimate", "flagged"), [(None, False), (20, False), (19.9, True)])
def test_usage_over_twice_the_estimate_is_flagged(estimate: float | None, flagged: bool) -> None:
    flags = ruled(board(request(2, usage=40)), estimate=estimate).flags
    assert any("over twice the estimate" in flag for flag in flags) is flagged


@pytest.mark.parametrize(
    ("text", "estimate"),
    [
        (b"---\ncontext_estimate: 30\n---\n", 30.0),
        (b"---\ncontext_estimate: 12.5 %\n---\n", 12.5),
        (b"---\ncontext_estimate: much\n---\n", None),
        (b"# A task\n", None),
        (Fault("absent"), None),
    ],
)
def test_the_estimate_of_a_task(text: bytes | Fault, estimate: float | None) -> None:
    assert checkpoint_ruling.estimate(text) == estimate


@pytest.mark.rule("CK-05")
def test_the_fifth_request_is_reviewed_and_the_sixth_is_not() -> None:
    assert ruled(board(*[request()] * 5)).asked.cycle == 5
    found = judged(board(*[request()] * 6))
    assert isinstance(found, Escalation)
    assert found.problem.message == (
        "task-01 asked 6 times for review of checkpoint 1, 5 are the most: it is escalated to a "
        "person, and its state is error"
    )
    assert found.problem.hint == (
        f"qrspi checkpoint review {RUN} task-01 --anyway --score N -m TEXT"
    )


@pytest.mark.rule("CK-05")
def test_each_checkpoint_is_counted_by_itself() -> None:
    texts = [request(checkpoint="1 of 2")] * 5 + [request(checkpoint="2 of 2")] * 5
    found = ruled(board(*texts))
    assert (found.asked.number, found.asked.cycle, found.completes) == (2, 5, True)


@pytest.mark.rule("GTD-19")
def test_a_request_that_names_no_checkpoint_is_about_the_last_one() -> None:
    silent = request().replace("  Checkpoint: 1 of 2\n", "")
    found = ruled(board(request(checkpoint="2 of 3"), silent))
    assert (found.asked.number, found.asked.cycle) == (2, 2)
    assert found.asked.request.deviations == (
        "Checkpoint is missing: expected `Checkpoint: N of M`",
    )
    assert ruled(board(silent)).asked.number == 1


@pytest.mark.rule("GTD-08")
def test_a_person_decides_and_the_counting_starts_anew() -> None:
    escalated = [(1, "task-01", 6, 1, 6, None, "escalated", 0)]
    stuck = board(*[request()] * 6, state="error", reviews=escalated)
    again = judged(stuck)
    assert isinstance(again, Escalation)
    assert again.is_told
    word = Reviewer(score=3, message="It will do.", anyway=True)
    assert (ruled(stuck, word).anyway, ruled(stuck, word).verdict) == (True, "approve")
    decided = [*escalated, (2, "task-01", 6, 1, 6, 3, "approve", 1)]
    assert ruled(board(*[request()] * 7, reviews=decided)).asked.cycle == 1
    sixth = judged(board(*[request()] * 12, reviews=decided))
    assert isinstance(sixth, Escalation)
    assert not sixth.is_told


@pytest.mark.rule("GTD-19")
@pytest.mark.parametrize("state", ["watching", "working", "review_approved", "complete", "error"])
def test_only_who_asks_is_answered(state: str) -> None:
    assert refused(board(request(), state=state)).code == "not-waiting"


@pytest.mark.rule("GTD-19")
def test_a_request_is_answered_once() -> None:
    past = [(1, "task-01", 1, 1, 1, 2, "approve", 0)]
    problem = refused(board(request(), reviews=past))
    assert problem.code == "already-answered"
    assert problem.hint.endswith("task-01 --anyway --score N -m TEXT")


@pytest.mark.rule("CK-06", "GTD-19")
def test_the_oldest_request_comes_first() -> None:
    tasks = [
        ("task-01", "needs_review", 0),
        ("task-02", "needs_review", 0),
        ("task-03", "error", 0),
    ]
    asked = [(1, "task-02", "review_request", ""), (2, "task-01", "review_request", "")]
    found = checkpoint_board.board(tasks, asked, ())
    assert checkpoint_ruling.choose(found, None, RUN) == "task-02"
    assert found.pending == ("task-02", "task-01", "task-03")
    nobody = checkpoint_ruling.choose(board(state="working"), None, RUN)
    assert isinstance(nobody, Problem)
    assert nobody.code == "nothing-waits"


def test_a_row_that_names_no_task_is_none() -> None:
    odd = [("task-01; rm -rf /", "needs_review", 0), (b"task-01", "error", 0), ("9", "error", 0)]
    assert checkpoint_board.board(odd, (), ()).rows == {}


COMMANDS = [
    (request(2), ""),
    (request(5), " --read"),
    (request(2, corrected="yes"), " --read"),
    ("", " --read --score N -m TEXT"),
]


@pytest.mark.rule("CK-09")
@pytest.mark.parametrize(("text", "more"), COMMANDS)
def test_who_waits_is_told_with_the_command_that_answers(text: str, more: str) -> None:
    (row,) = checkpoint_board.told(RUN, board(text), MemoryTree({}))
    assert (row.kind, row.command) == ("task", f"qrspi checkpoint review {RUN} task-01{more}")


@pytest.mark.rule("CK-05", "GTD-08")
def test_who_asked_too_often_waits_for_a_person() -> None:
    (row,) = checkpoint_board.told(RUN, board(*[request()] * 6), MemoryTree({}))
    assert (row.kind, row.command) == (
        "cap",
        f"qrspi checkpoint review {RUN} task-01 --anyway --score N -m TEXT",
    )


BEATING = "working reviewing review_approved review_failed fix_proposed exit_requested".split()
QUIET = "watching complete needs_review error exited".split()


@pytest.mark.rule("CK-09", "GTD-20")
@pytest.mark.parametrize("state", [*BEATING, *QUIET])
@pytest.mark.parametrize(("age", "old"), [(540, False), (541, True), (None, True)])
def test_a_heartbeat_goes_stale(state: str, age: int | None, old: bool) -> None:
    row = CheckpointRow("task-01", state, None if age is None else 10_000 - age)
    found = checkpoint_board.stale([row], 10_000)
    assert bool(found) == (old and state in BEATING)


@pytest.mark.rule("CK-10")
def test_there_are_three_checklists() -> None:
    lengths = {name: len(set(questions)) for name, questions in LISTS.items()}
    assert lengths == {"facts": 8, "strategy": 7, "situation": 6}


@pytest.mark.rule("GTD-22")
def test_what_is_not_answered_is_kept_as_that() -> None:
    said = {"situation": ["no", 0, None], "strategy": {"7": True}}
    found = checkpoint_ruling.read_answers(json.dumps(said).encode(), "a.json")
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
    problem = checkpoint_ruling.read_answers(text.encode(), "a.json")
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
    found = checkpoint_scale.summarise([*tasks, "task-09"], dict(zip(tasks, scores, strict=True)))
    assert found[1:] == (average, worst, meaning, outlier)
    assert found.tasks[-1] == ("task-09", None)


def test_nothing_reviewed_has_no_average() -> None:
    assert checkpoint_scale.summarise([], {}) == Summary(())
