"""Tasks that repair what a later step found, and what became of the findings they settle."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.core.code_steps import batch, implementers, integrate, test, test_results
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Report
from qrspi.core.rounds.loop import Loop
from qrspi.core.yaml.writer import quote
from qrspi.handlers.changes.change_set import commit_files
from qrspi.handlers.jobs.job import Job, Performed


def handle(job: Job) -> Performed:
    path = _of_findings(job, job.loop) if job.loop else _of_failures(job)
    commit_files(job, (path,), f"repairs of {job.facts.step}")
    number = job.loop.round if job.loop else 0
    return Performed("write-repairs", job.facts.step, number, (path,))


def acceptance(job: Job) -> Performed:
    work = integrate.work(job.facts)
    listed = implementers.criteria(job.facts, work.tasks)
    items = "\n".join(f"- {criterion.name}: {criterion.text}" for criterion in listed)
    body = f"""\
The tasks of this phase are merged. What they promised is held against the whole of it, by tests
that go in where a user does. The criteria, by their names:

{items}

## Acceptance Criteria

- Each criterion above is shown by a test that fails without the work.
- The limits that the criteria name are tried on both sides, and the main flows from end to end.
- A defect that was found and settled in this phase has a test that would have caught it.
- Nothing but tests, and what they need to run, is changed.
"""
    path = write(job, "test", implementers.ACCEPTANCE, "Tests of the whole phase", body)
    commit_files(job, (path,), "acceptance tests")
    return Performed("write-acceptance", job.facts.step, 0, (path,))


def write(job: Job, kind: str, name: str, title: str, body: str, files: Sequence[str] = ()) -> str:
    """A new round of repairs with one task in it, approved: the repair is decided already."""
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
Reviewers of {loop.subject.key} found in round {loop.round} what is to be settled here, each in a
file of its own below the run's directory:

{listed}

## Acceptance Criteria

- Each finding is settled by a change, with a test that would have caught it.
- The tests pass.
"""
    title = f"Settle the findings of {loop.subject.key} round {loop.round}"
    return write(job, kind, integrate.repair_name(loop.round), title, body)


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


_MOST_LISTED = 20  # dispositions have thirty lines at most


def settle_task(job: Job) -> Performed:
    report = task_records.report(job.workspace, job.round_loop.subject.key)
    assert isinstance(report, Report)  # the action was derived from it
    return _settle(job, f"reported as settled in {report.commit[:12]}")


def settle_repairs(job: Job) -> Performed:
    end = f"/{integrate.repair_name(job.round_loop.round)}"
    repairs = integrate.work(job.facts).repairs
    repair = next(task for task in repairs if task.key.endswith(end))
    merged = {merge.key: merge.commit or merge.tip for merge in integrate.recorded(job.workspace)}
    where = f", merged as {merged[repair.key][:12]}" if repair.key in merged else ""
    return _settle(job, f"{repair.item.file} ({repair.state}{where})")


def _settle(job: Job, what: str) -> Performed:
    loop = job.round_loop
    job.workspace.create(loop.paths.dispositions, dispositions(loop, what))
    return Performed("settle", loop.subject.key, loop.round, (loop.paths.dispositions,))


def dispositions(loop: Loop, what: str) -> bytes:
    names = [item.finding.name for item in loop.to_apply]
    lines = [f"- {name}: {what}" for name in names[:_MOST_LISTED]]
    if more := len(names) - len(lines):
        lines.append(f"- and {more} more: {what}")
    return "\n".join([f"# Round {loop.round:02d} dispositions", "", *lines, ""]).encode()
