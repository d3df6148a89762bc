"""The commands that config.md names: for the tests, and for CI."""

from __future__ import annotations

from qrspi.core import trust
from qrspi.core.config.reader import NO_TESTS
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.handlers.jobs.job import Job
from qrspi.world.consent import permits
from qrspi.world.consent.permits import Permit


def named(job: Job, key: str) -> str:
    """The command that config.md names for it."""
    command = getattr(job.facts.config.gates, key, None) or ""
    if command and command != NO_TESTS:
        return str(command)
    found = f"is {command}" if command else "is missing"
    raise Refusal(
        Problem(
            "field-missing",
            f"config.md: gates.{key} {found}; expected the command to run",
            file="config.md",
            field=f"gates.{key}",
            found=command,
            expected="a command",
            hint=f"qrspi config set {job.run} gates.{key} CMD",
        )
    )


def permit(job: Job, key: str) -> Permit:
    """The same, allowed by this user: what runs is taken from it."""
    return permits.permit(job.project, job.run, trust.shell(f"gates.{key}", named(job, key)))
