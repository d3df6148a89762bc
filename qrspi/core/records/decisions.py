"""Which decisions of people are on record.

Without such a line, what a pause file, a skip marker, an outcome or dispositions say is only a
claim: anybody who can write a file can make one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.approvals import Record

if TYPE_CHECKING:
    from qrspi.core.records.task_records import Outcome

UNRECORDED = "no decision is on record"


class RoundDecisions(NamedTuple):
    """What people decided about one round."""

    findings: Mapping[str, Record] = {}  # the newest about each
    menu: Mapping[str, Record] = {}  # the newest for each option chosen

    def proves(self, finding: str, choice: str) -> bool:
        found = self.findings.get(finding)
        return found is not None and found.option == choice

    def skip_of(self, finding: str) -> Record | None:
        return self.findings[finding] if self.proves(finding, "skip") else None


def of_round(records: Iterable[Record], key: str, number: int) -> RoundDecisions:
    findings: dict[str, Record] = {}
    menu: dict[str, Record] = {}
    for record in _of_this_phase(records, key):
        if (record.step, record.round) != (key, number):
            continue
        if record.event == "decide":
            findings[record.finding] = record
        elif record.event == "resolve":
            menu[record.option] = record
    return RoundDecisions(findings, menu)


def of_task(records: Iterable[Record], key: str, ending: str) -> Record | None:
    """The newest decision about the task, if it is this one."""
    about = [one for one in _of_this_phase(records, key) if one.event == "task" and one.step == key]
    return about[-1] if about and about[-1].option == ending else None


def ended(outcome: Outcome, decided: Record | None) -> str:
    """How a task ended without being clean."""
    if decided is None:
        return f"outcome.md says {outcome.ending}; {UNRECORDED}: {outcome.reason}"
    return f"{decided.person} decided so on {decided.when[:10]}: {outcome.reason}"


def _of_this_phase(records: Iterable[Record], key: str) -> list[Record]:
    """After a phase is put away, rounds and tasks are numbered from 01 again."""
    found: list[Record] = []
    for record in records:
        if record.event == "phase" and (record.mark(key) or "task-" in key or "gate" in key):
            found.clear()
        found.append(record)
    return found
