"""Run the tests over the feature branch and draft test-results.md."""

from __future__ import annotations

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import integrate as integration
from qrspi.core.code_steps import test_results as testresults
from qrspi.core.code_steps.test_results import Failure, Results
from qrspi.core.pipeline import STEP
from qrspi.core.records import baseline
from qrspi.core.tree import Tree
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import baseline as baseline_run
from qrspi.handlers.tasks import gate_record
from qrspi.world.git import refs
from qrspi.world.machine import clock
from qrspi.world.processes import configured_command as commands
from qrspi.world.processes.configured_command import Ran


def handle(job: Job) -> Performed:
    command = baseline_run.command_of(job, "test_command")
    found = workplace.find(job)
    workplace.checked_out(found, f"run `qrspi next {job.run}`")
    commit = refs.head(found.repo) or ""
    ran = commands.run(command, found.repo.root)
    results = _results(job, command, commit, ran)
    log, page = testresults.log_file(results.number), testresults.results_file(results.number)
    job.workspace.write(log, ran.output)
    known = _write_known(job, results)
    record = gate_record.write(job, "test", block(job.workspace, results), {"commit": commit})
    job.workspace.write(page, testresults.render(results))
    files = (log, *known, record, page)
    gate_record.commit(job, "draft test", files)
    return Performed("run-tests", "test", results.number, files, (results.sentence,))


def _results(job: Job, command: str, commit: str, ran: Ran) -> Results:
    before = frozenset(baseline.known_failures(job.workspace))
    names = testresults.failures(ran.text, command) if ran.status else ()
    failures = tuple(Failure(name, "known" if name in before else "pending") for name in names)
    return Results(
        testresults.highest(job.workspace) + 1,
        command,
        commit,
        ran.status,
        len(integration.recorded(job.workspace)),
        integration.resets(job.facts, "test"),
        failures,
        clock.now_utc(),
    )


def block(tree: Tree, results: Results) -> str:
    """What test-results.md says: the tests, and the merges that this step made."""
    merges = gaterecords.merges(tree.read(STEP["test"].artifact))
    text = testresults.summary(results)
    return f"{text}\n\n{gaterecords.merges_block(merges)}" if merges else text


def _write_known(job: Job, results: Results) -> tuple[str, ...]:
    known = [one.name for one in results.failures if one.choice == "known"]
    if not known:
        return ()
    text = f"# Failures known from before\n{baseline.listed(known)}"
    job.workspace.write(testresults.KNOWN, text.encode())
    return (testresults.KNOWN,)
