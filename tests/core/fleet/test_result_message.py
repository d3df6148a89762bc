"""What a worker says about a job, written and read; a stranger's words are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.fleet import result_message
from qrspi.core.fleet.job_message import TASK
from qrspi.core.fleet.result_message import Answered, Lost, Started, TakenBack
from qrspi.core.model import Problem

JOB = "ab" * 32


@pytest.mark.rule("EXE-08", "EXE-17")
@pytest.mark.parametrize(
    "word",
    [
        Started(JOB, "vm-1"),
        TakenBack(JOB, "vm-1"),
        Answered(JOB, "vm-1", "claude-json", "é \n", 2.5),
        Answered(JOB, "vm-1", "text", "", 0.0, Problem("transport-failed", "it exited 3")),
    ],
)
def test_what_is_said_is_heard(word: Started | TakenBack | Answered) -> None:
    assert result_message.read(result_message.render(word), {}) == word


def said(**fields: Any) -> bytes:
    good = {"version": 1, "state": "answered", "job": JOB, "worker": "w", "reply": "text"}
    return json.dumps({**good, "text": "x", "seconds": 1.0, **fields}).encode()


@pytest.mark.rule("EXE-15")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        said(version=2),
        said(job="../x"),
        said(worker="a\nb"),
        said(worker=None),
        said(state="approved"),
        said(reply="pickle"),
        said(text=None),
    ],
)
def test_other_words_are_none(body: bytes) -> None:
    assert result_message.read(body, {}) is None


@pytest.mark.rule("EXE-15")
@given(st.binary(max_size=200))
def test_any_bytes_are_read(body: bytes) -> None:
    assert result_message.read(body, {}) is None


@pytest.mark.rule("EXE-15")
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"code": "worker-refused", "message": "no  such\nmodel"},
            Problem("worker-refused", "no such model"),
        ),
        (
            {"code": "already-approved", "message": "x" * 2000},
            Problem("transport-failed", "x" * 1000),
        ),
        ({"code": 3, "message": None}, Problem("transport-failed", "a worker gave no reason")),
        ({"code": 3, "message": "half \ud800"}, Problem("transport-failed", "half ?")),
    ],
)
def test_a_workers_problem_is_one_line_of_its_kind(
    fields: dict[str, Any], problem: Problem
) -> None:
    assert result_message.read(said(**fields), {}) == Answered(JOB, "w", "text", "x", 1.0, problem)


@pytest.mark.rule("EXE-15")
@pytest.mark.parametrize(
    ("seconds", "found"),
    [(2, 2.0), (10**400, 0.0), (-1, 0.0), (float("nan"), 0.0), (float("inf"), 0.0), ("1", 0.0)],
)
def test_a_time_that_no_call_takes_is_none(seconds: object, found: float) -> None:
    word = result_message.read(said(seconds=seconds), {})
    assert isinstance(word, Answered) and word.seconds == found


@pytest.mark.rule("EXE-13")
@pytest.mark.parametrize(
    ("reason", "code", "message"),
    [
        (
            "delivery_limit",
            "worker-lost",
            "it was handed out twice and not finished, by workers that were lost or a broker that "
            "was restarted, so it is not handed out again",
        ),
        ("expired", "worker-none", "no worker took it within 24 hours"),
        (
            "rejected",
            "worker-refused",
            "a worker refused the message, and says why in its log",
        ),
    ],
)
def test_a_job_that_the_broker_gave_up(reason: str, code: str, message: str) -> None:
    headers = {"x-death": [{}], "x-first-death-reason": reason, "id": JOB, "task": TASK}
    found = result_message.read(b"its prompt", headers)
    assert isinstance(found, Lost)
    assert (found.job, found.problem.code, found.problem.message) == (JOB, code, message)
    assert result_message.read(b"", {**headers, "task": "other"}) is None
    assert result_message.read(b"", {**headers, "id": "x"}) is None
