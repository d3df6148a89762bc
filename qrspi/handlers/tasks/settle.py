"""Say what became of a round's findings, once somebody has done something about them."""

from __future__ import annotations

from qrspi.core.code_steps import integrate
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Report
from qrspi.core.rounds.loop import Loop
from qrspi.handlers.jobs.job import Job, Performed

_LISTED = 20  # dispositions have thirty lines at most


def settle_task(job: Job) -> Performed:
    """The implementer has reported another commit since the round."""
    report = task_records.report(job.workspace, job.round_loop.subject.key)
    assert isinstance(report, Report)  # the action was derived from it
    return _settle(job, f"reported as settled in {report.commit[:12]}")


def settle_repairs(job: Job) -> Performed:
    """The task that the findings were made into has ended."""
    end = f"/{integrate.repair_name(job.round_loop.number)}"
    repairs = integrate.work(job.facts).repairs
    repair = next(task for task in repairs if task.key.endswith(end))
    merged = {merge.key: merge.commit or merge.tip for merge in integrate.recorded(job.workspace)}
    where = f", merged as {merged[repair.key][:12]}" if repair.key in merged else ""
    return _settle(job, f"{repair.item.file} ({repair.state}{where})")


def _settle(job: Job, what: str) -> Performed:
    loop = job.round_loop
    job.workspace.create(loop.paths.dispositions, dispositions(loop, what))
    return Performed("settle", loop.subject.key, loop.number, (loop.paths.dispositions,))


def dispositions(loop: Loop, what: str) -> bytes:
    """The same of each finding that was to be applied."""
    names = [item.finding.name for item in loop.to_apply]
    lines = [f"- {name}: {what}" for name in names[:_LISTED]]
    if more := len(names) - len(lines):
        lines.append(f"- and {more} more: {what}")
    return "\n".join([f"# Round {loop.number:02d} dispositions", "", *lines, ""]).encode()
