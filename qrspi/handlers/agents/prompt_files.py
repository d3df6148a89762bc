"""Write the prompts of whatever the run waits for, so that a host finds them ready."""

from __future__ import annotations

from qrspi.core.model import Problem
from qrspi.handlers.agents.assignments import Order, orders, unready
from qrspi.handlers.jobs.job import Job, Performed


def handle(job: Job) -> Performed:
    files = put(job, missing(job))
    return Performed("write-prompts", job.next.step, job.next.round, files)


def missing(job: Job) -> tuple[Order, ...]:
    """Those whose prompt is not there, or says something else by now."""
    made = orders(job).ready
    return tuple(one for one in made if job.workspace.read(one.prompt_file) != one.prompt)


def put(job: Job, made: tuple[Order, ...]) -> tuple[str, ...]:
    for order in made:
        job.workspace.write(order.prompt_file, order.prompt)
    return tuple(order.prompt_file for order in made)


def warnings(job: Job) -> tuple[Problem, ...]:
    """Agents that are waited for, and why there is no prompt for them."""
    return tuple(
        one.problem._replace(message=f"no prompt for {one.name}: {one.problem.message}")
        for one in unready(job)
    )
