"""Make a task of what a review of the code found, or of tests that fail."""

from __future__ import annotations

from qrspi.core.code_steps import integrate as integration
from qrspi.core.code_steps import test as testing
from qrspi.core.code_steps import test_results as testresults
from qrspi.core.filenames import RoundPaths
from qrspi.core.rounds.loop import Loop
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import gate_record, repair_files


def handle(job: Job) -> Performed:
    path = _findings(job, job.loop) if job.loop else _failures(job)
    gate_record.commit(job, f"repairs of {job.facts.step}", (path,))
    number = job.loop.number if job.loop else 0
    return Performed("write-repairs", job.facts.step, number, (path,))


def _findings(job: Job, loop: Loop) -> str:
    kind = "test" if loop.subject.key == "test" else "integration"
    paths: RoundPaths = loop.paths
    listed = "\n".join(
        f"- {item.finding.name} ({item.finding.severity} {item.finding.effective_type}): "
        f"`{paths.directory}/{item.finding.file}`"
        for item in loop.to_apply
    )
    body = f"""\
Reviewers of {loop.subject.key} found in round {loop.number} what is to be settled here, each in a
file of its own below the run's directory:

{listed}

## Acceptance Criteria

- Each finding is settled by a change, with a test that would have caught it.
- The tests pass.
"""
    title = f"Settle the findings of {loop.subject.key} round {loop.number}"
    return repair_files.write(job, kind, integration.repair_name(loop.number), title, body)


def _failures(job: Job) -> str:
    results = testresults.newest(job.workspace)
    assert results is not None  # this was derived from it
    listed = "\n".join(f"- {failure.name}" for failure in results.to_fix)
    body = f"""\
`{results.command}` fails at {results.commit[:12]}; its output is in the run's directory, at
`{testresults.log_file(results.number)}`. A person chose to have this repaired:

{listed}

## Acceptance Criteria

- Each of them passes, none is skipped, weakened or deleted to get there.
- What passed before still passes.
"""
    name = testing.repair_of(results).removeprefix("/")
    return repair_files.write(job, "test", name, "Repair failing tests", body)
