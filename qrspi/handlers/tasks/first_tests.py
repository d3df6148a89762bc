"""Tests that are written before the code: run by the engine when they are reported, to see them
fail. One that passes by then shows nothing."""

from __future__ import annotations

from qrspi.core.code_steps import test_results
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.model import TestState
from qrspi.core.records import baseline
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import commands
from qrspi.world.processes import configured_command

TOLD: dict[TestState, str] = {
    "failed": "run here, and they fail, as they should before the code is written",
    "passed": "run here, and nothing fails that did not fail before, so they show nothing yet",
    "not-run": "not run, as config.md names no test command",
}


def seen(job: Job, worktree: str) -> TestState:
    """What they do in the task's work tree; what failed before the run began does not count."""
    command = job.facts.config.test_command
    if not command or command == NO_TESTS:
        return "not-run"
    ran = configured_command.run(commands.permit(job, "test_command"), worktree)
    failures = test_results.failures(ran.text, command) if ran.status else ()
    known = frozenset(baseline.known_failures(job.workspace))
    is_old = bool(failures) and known.issuperset(failures)
    return "failed" if ran.status and not is_old else "passed"
