"""What reviewers of the tests are shown besides the text: the log, the page about it, the diff."""

from __future__ import annotations

from qrspi.core.agents.prompts import Source
from qrspi.core.records import task_records
from qrspi.core.tree import Fault
from qrspi.handlers.jobs.job import Job

MOST_READ = 16 * 1024 * 1024
MOST_SHOWN = 256 * 1024


def paths(job: Job) -> tuple[str, ...]:
    """What the tests printed, the page about it, and what maps each criterion to a test."""
    if job.facts.step != "test":
        return ()
    from qrspi.core.code_steps import test_results

    number = test_results.highest(job.workspace)
    mapped = map(task_records.report_file, _acceptance(job))
    named = (test_results.results_file(number), test_results.log_file(number), *mapped)
    return tuple(path for path in named if not isinstance(job.workspace.size(path), Fault))


def _acceptance(job: Job) -> tuple[str, ...]:
    """The tasks whose report maps every criterion to a test."""
    from qrspi.core.code_steps import batch, implementers

    keys = (item.key for item in batch.repairs(job.workspace).items)
    return tuple(key for key in keys if implementers.is_acceptance(key))


def shown(job: Job) -> tuple[Source, ...]:
    """The same for an agent that opens no files, with the diff: of what is long, the end."""
    if job.facts.step != "test" or job.loop is None:
        return ()
    named = (*paths(job), job.loop.paths.diff)
    read = ((path, job.workspace.read(path, MOST_READ)) for path in named)
    return tuple(
        Source(path, data[-MOST_SHOWN:]) for path, data in read if not isinstance(data, Fault)
    )
