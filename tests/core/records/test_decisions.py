"""Which decisions of people are on record: each proves one thing about one round or task."""

from __future__ import annotations

import pytest

from qrspi.core.records import decisions
from qrspi.core.records.approvals import Record

FINDING = "quality-claude.R1-F01"
SKIPPED = Record("decide", "goals", "", 1, finding=FINDING, option="skip")
ENDED = Record("task", "task-01", "", 1, option="skipped")


@pytest.mark.rule("SEC-20")
@pytest.mark.parametrize(
    ("records", "proven"),
    [
        ((SKIPPED,), True),
        ((), False),
        ((SKIPPED._replace(option="apply"),), False),
        ((SKIPPED._replace(finding="scope-claude.R1-F01"),), False),
        ((SKIPPED._replace(step="design"),), False),
        ((SKIPPED._replace(round=2),), False),
        ((SKIPPED._replace(event="resolve"),), False),
        ((SKIPPED, SKIPPED._replace(option="apply")), False),
        ((SKIPPED._replace(option="apply"), SKIPPED), True),
    ],
)
def test_a_record_proves_one_choice_about_one_finding_of_one_round(
    records: tuple[Record, ...], proven: bool
) -> None:
    found = decisions.of_round(records, "goals", 1)
    assert found.proves(FINDING, "skip") == proven
    assert (found.skip_of(FINDING) is not None) == proven


@pytest.mark.rule("SEC-20")
@pytest.mark.parametrize(
    ("records", "proven"),
    [
        ((ENDED,), True),
        ((), False),
        ((ENDED._replace(option="accepted-with-issues"),), False),
        ((ENDED._replace(step="task-02"),), False),
        ((ENDED._replace(event="resolve"),), False),
        ((ENDED, ENDED._replace(option="accepted-with-issues")), False),
        ((ENDED, Record("phase", "replan", "", 1)), False),
        ((Record("phase", "replan", "", 1), ENDED), True),
    ],
)
def test_a_record_proves_one_ending_of_one_task(records: tuple[Record, ...], proven: bool) -> None:
    found = decisions.of_task(records, "task-01")
    assert (found is not None and found.option == "skipped") == proven
