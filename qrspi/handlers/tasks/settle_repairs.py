"""Say what became of the findings about code: the task that was made of them has ended."""

from __future__ import annotations

from qrspi.core.code_steps import integrate as integration
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import settle_task


def handle(job: Job) -> Performed:
    loop = job.round_loop
    end = f"/{integration.repair_name(loop.number)}"
    found = integration.work(job.facts).repairs
    repair = next(task for task in found if task.key.endswith(end))
    merged = {one.key: one.commit or one.tip for one in integration.recorded(job.workspace)}
    where = f", merged as {merged[repair.key][:12]}" if repair.key in merged else ""
    names = [item.finding.name for item in loop.to_apply]
    text = settle_task.dispositions(
        loop.number, names, f"{repair.item.file} ({repair.state}{where})"
    )
    job.workspace.create(loop.paths.dispositions, text)
    return Performed("settle", loop.subject.key, loop.number, (loop.paths.dispositions,))
