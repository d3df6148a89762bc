"""Jobs: the same question is the same job, and a record is read whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qrspi.core.agents import dispatch_record
from qrspi.core.agents.dispatch_record import Record

RECORD = Record(
    "0" * 64, "quality-claude", 2, "reviewer-quality", "claude", "large", "command", "claude-json"
)
QUESTION = ("2026-05-17-user-auth", "goals", 1, "quality-claude", b"Review it.")


@pytest.mark.rule("EXE-04", "MAN-02")
def test_the_same_question_is_the_same_job_and_no_other_is() -> None:
    run, step, round, name, prompt = QUESTION
    others = (
        ("2026-05-18-user-auth", step, round, name, prompt),
        (run, "design", round, name, prompt),
        (run, step, 2, name, prompt),
        (run, step, round, "scope-claude", prompt),
        (run, step, round, name, prompt + b"\n"),
        (run, f"{step}1", 0, name, prompt),
        (run, step, round, "quality-claudeR", b"eview it."),
    )
    assert dispatch_record.job_id(*QUESTION) == dispatch_record.job_id(*QUESTION)
    assert len({dispatch_record.job_id(*one) for one in (QUESTION, *others)}) == 1 + len(others)


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        RECORD._replace(state="taking", files={"design.md": "a" * 64}),
        RECORD._replace(state="failed", problem="claude exited 1"),
        RECORD._replace(broker_job="job-7", second_try=True),
    ],
)
def test_a_record_reads_as_it_was_written(record: Record) -> None:
    line = dispatch_record.render(record)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert dispatch_record.read(json.loads(line)) == record


@pytest.mark.parametrize(
    "change",
    [
        {"job_id": None},
        {"state": "approved"},
        {"reply": "xml"},
        {"attempt": "2"},
        {"attempt": True},
        {"files": []},
        {"model": 3},
        {"broker_job": "--output-file=x"},
        {"broker_job": "../x"},
        {"ticket": "qrspi jobs"},
        {"ticket": "-"},
    ],
)
def test_a_record_that_is_not_whole_is_none(change: dict[str, Any]) -> None:
    assert dispatch_record.read({**json.loads(dispatch_record.render(RECORD)), **change}) is None


def test_a_record_of_an_earlier_time_is_none() -> None:
    assert dispatch_record.read({}) is None
