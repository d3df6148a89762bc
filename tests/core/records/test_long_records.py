"""Where thousands of decisions are on record, the few that are meant are found."""

from __future__ import annotations

import pytest

from qrspi.core.records import approvals
from qrspi.core.records.approvals import LONG, Record, naming, newest_first, told_of
from qrspi.core.records.decision_line import LongRecord

FIRST = Record("approve", "goals", "v2:1", 1, who="Ada")
OTHERS = [Record("decide", "plan", "", number, who="Bo") for number in range(1200)]
AGAIN = Record("reject", "goals", "v2:2", 2, who="Ada")
LOG = b"".join(approvals.render(one) for one in (FIRST, *OTHERS, AGAIN))


@pytest.mark.rule("SPE-01")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (naming("goals"), [AGAIN, FIRST]),
        (told_of("approve"), [FIRST]),
        (told_of("reject", "goals"), [AGAIN]),
        (told_of("approve", "plan"), []),
        (told_of("decide", "plan"), OTHERS[::-1]),
    ],
)
def test_only_the_records_that_are_meant_are_given_newest_first(
    text: str, meant: list[Record]
) -> None:
    records = approvals.read(LOG)
    assert isinstance(records, LongRecord) and len(LOG) > LONG
    assert list(newest_first(records, text)) == meant
