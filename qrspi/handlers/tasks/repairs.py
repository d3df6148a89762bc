"""Tasks that repair what a later step found: `fixes/<kind>-round-NN/*.md`."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.code_steps import batch, integrate, test, test_results
from qrspi.core.rounds.loop import Loop
from qrspi.core.yaml.writer import quote
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import drafts


def handle(job: Job) -> Performed:
    """A task of what a review of the code found, or of tests that fail."""
    path = _of_findings(job, job.loop) if job.loop else _of_failures(job)
    drafts.commit(job, f"repairs of {job.facts.step}", (path,))
    number = job.loop.number if job.loop else 0
    return Performed("write-repairs", job.facts.step, number, (path,))


def write(job: Job, kind: str, name: str, title: str, body: str, files: Sequence[str] = ()) -> str:
    """A new round of repairs with one task in it, approved: what it repairs was decided."""
    fixes = batch.next_fix_round(job.workspace, kind)
    path = f"{fixes.directory}/{name}.md"
    targets = f"target_files: [{', '.join(map(quote, files))}]\n" if files else ""
    round_name = fixes.directory.removeprefix("fixes/")
    head = f"---\nstatus: approved\nfix_round: {round_name}\n{targets}---\n\n"
    job.workspace.create(path, f"{head}# {title}\n\n{body.strip()}\n".encode())
    return path


def _of_findings(job: Job, loop: Loop) -> str:
    kind = "test" if loop.subject.key == "test" else "integration"
    listed = "\n".join(
        f"- {item.finding.name} ({item.finding.severity} {item.finding.effective_type}): "
        f"`{loop.paths.directory}/{item.finding.file}`"
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
    return write(job, kind, integrate.repair_name(loop.number), title, body)


def _of_failures(job: Job) -> str:
    results = test_results.newest(job.workspace)
    assert results is not None  # the action was derived from it
    listed = "\n".join(f"- {failure.name}" for failure in results.to_fix)
    body = f"""\
`{results.command}` fails at {results.commit[:12]}; its output is in the run's directory, at
`{test_results.log_file(results.number)}`. A person chose to have this repaired:

{listed}

## Acceptance Criteria

- Each of them passes, none is skipped, weakened or deleted to get there.
- What passed before still passes.
"""
    name = test.repair_of(results).removeprefix("/")
    return write(job, "test", name, "Repair failing tests", body)
