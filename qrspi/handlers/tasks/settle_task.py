"""Say what became of a task round's findings: its implementer reported another commit since."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Report
from qrspi.handlers.jobs.job import Job, Performed

_LISTED = 20  # dispositions have thirty lines at most


def handle(job: Job) -> Performed:
    loop = job.round_loop
    report = taskfiles.report(job.workspace, loop.subject.key)
    assert isinstance(report, Report)  # this was derived from it
    names = [item.finding.name for item in loop.to_apply]
    text = dispositions(loop.number, names, f"reported as settled in {report.commit[:12]}")
    job.workspace.create(loop.paths.dispositions, text)
    key, files = loop.subject.key, (loop.paths.dispositions,)
    return Performed("settle", key, loop.number, files)


def dispositions(number: int, names: Sequence[str], what: str) -> bytes:
    lines = [f"- {name}: {what}" for name in names[:_LISTED]]
    if more := len(names) - len(lines):
        lines.append(f"- and {more} more: {what}")
    return "\n".join([f"# Round {number:02d} dispositions", "", *lines, ""]).encode()
