"""Files of decisions that commands take away themselves, as what they say is carried out."""

from __future__ import annotations

import pytest

from qrspi.core.pipeline import MARKER
from qrspi.core.proof import vanished
from qrspi.core.records import task_records
from qrspi.core.records.approvals import Record
from qrspi.core.records.task_records import Reopened, Report, ReportStatus
from tests.runs import tree

ONE = "task-01"
AGAIN, OUTCOME = task_records.again_file(ONE), task_records.outcome_file(ONE)
WHEN, LATER, EARLIER = (f"2026-05-17T10:0{minute}:00Z" for minute in (1, 2, 0))


def decided(file: str, event: str = "task") -> Record:
    return Record(event, ONE, "", 0, when=WHEN, file=file, file_hash="1" * 64)


def reported(status: ReportStatus, time: str, phase: str = "") -> dict[str, bytes]:
    report = Report(status, "a" * 40, time)
    return {f"{phase}{task_records.report_file(ONE)}": task_records.render_report(ONE, report)}


SENT_BACK = {
    task_records.reopened_file(ONE): task_records.render_reopened(
        ONE, Reopened("a" * 40, 1, (), LATER)
    )
}
BEGUN = Record("phase", "replan", "", 0, when=LATER, phase=1)
REPLANNED = Record("rewind", "design", "", 0, when=LATER, replan="major")


@pytest.mark.rule("PRF-01", "SEC-22", "LIV-01")
@pytest.mark.parametrize(
    ("file", "files", "later", "is_missed"),
    [
        (AGAIN, {}, (), True),
        (AGAIN, reported("BLOCKED", EARLIER), (), True),
        (AGAIN, reported("BLOCKED", LATER), (), False),
        (AGAIN, reported("DONE", EARLIER), (), False),
        (AGAIN, reported("BLOCKED", EARLIER, "phases/phase-01/"), (), False),
        (OUTCOME, {}, (), True),
        (OUTCOME, reported("DONE", LATER), (), True),
        (OUTCOME, SENT_BACK, (), False),
        ("closed.md", reported("DONE", LATER, "phases/phase-01/"), (), True),
        (MARKER, {}, (), True),
        (MARKER, {}, (decided("other.md"),), True),
        (MARKER, {}, (BEGUN,), False),
        (MARKER, {}, (REPLANNED._replace(replan="minor"),), True),
        (MARKER, {}, (REPLANNED,), False),
    ],
)
def test_what_a_command_took_away_is_not_missed(
    file: str, files: dict[str, bytes], later: tuple[Record, ...], is_missed: bool
) -> None:
    gaps = vanished.check(tree(files), None, (decided(file), *later))
    assert (file in [gap.file for gap in gaps]) is is_missed
