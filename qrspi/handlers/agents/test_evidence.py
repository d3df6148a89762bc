"""What reviewers of the tests are shown besides the text: the log, the page about it, the diff."""

from __future__ import annotations

from qrspi.core.agents.prompts import Source
from qrspi.core.tree import Fault
from qrspi.handlers.jobs.job import Job

MOST_READ = 16 * 1024 * 1024
MOST_SHOWN = 256 * 1024


def paths(job: Job) -> tuple[str, ...]:
    """What the tests printed, and the page about it."""
    if job.facts.step != "test":
        return ()
    from qrspi.core.code_steps import test_results

    number = test_results.highest(job.workspace)
    named = (test_results.results_file(number), test_results.log_file(number))
    return tuple(path for path in named if not isinstance(job.workspace.size(path), Fault))


def shown(job: Job) -> tuple[Source, ...]:
    """The same for an agent that opens no files, with the diff: of what is long, the end."""
    if job.facts.step != "test" or job.loop is None:
        return ()
    named = (*paths(job), job.loop.paths.diff)
    read = ((path, job.workspace.read(path, MOST_READ)) for path in named)
    return tuple(
        Source(path, data[-MOST_SHOWN:]) for path, data in read if not isinstance(data, Fault)
    )
