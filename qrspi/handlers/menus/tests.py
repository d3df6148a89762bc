"""The gate of the tests: ship or fix. On a quick run for all of it, else failure by failure."""

from __future__ import annotations

from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps import test_results as testresults
from qrspi.core.code_steps.test_results import Choice, Results
from qrspi.core.errors import Refusal
from qrspi.core.filenames import feedback_file
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import feedback
from qrspi.core.tree import Fault
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.decisions import approve, rewind
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.handlers.tasks import tests as run_tests


def plan(job: Job, key: str, more: More) -> Move:
    if job.next.kind == "test-failure":
        return _decide(job, "fix" if key == "fix" else "ship")
    if key == "ship":
        return approve.plan(job, "test", Consent(more.who, unreviewed=True))
    return _back_to_plan(job, more.who)


def _decide(job: Job, choice: Choice) -> Move:
    found = testresults.newest(job.workspace)
    assert found is not None and found.pending  # the menu was derived from it
    name = found.pending[0].name
    results = found.chosen(choice)
    page = testresults.results_file(results.number)
    edits = (
        _redrafted(job, results),
        Edit("write", page, f"{name}: {choice}", testresults.render(results)),
    )
    return Move(f"test-{choice}", "test", results.number, edits, notes=(f"{name}: {choice}",))


def _redrafted(job: Job, results: Results) -> Edit:
    path = STEP["test"].artifact
    now = job.workspace.read(path)
    data = gaterecords.drafted(now, "", run_tests.block(job.workspace, results), {})
    if isinstance(data, Problem):
        raise Refusal(data)
    return Edit("write", path, "the choice", data)


def _back_to_plan(job: Job, who: str) -> Move:
    """Whoever plans anew is told why."""
    half = rewind.half_done(job, "plan")
    move = rewind.plan(job, "plan", who)
    if half:
        return move
    told = _told(job)
    covers = (*move.covers, "feedback")
    return move._replace(edits=(move.edits[0], *told, *move.edits[1:]), covers=covers)


def _told(job: Job) -> tuple[Edit, ...]:
    artifact = job.workspace.read(STEP["plan"].artifact)
    results = testresults.newest(job.workspace)
    if isinstance(artifact, Fault):
        return ()
    number = feedback.newest(job.workspace, "plan") + 1
    words = [f"{job.next.because[0]}. A person chose to fix it: plan what that takes."]
    if results:
        words += ["", f"See {testresults.results_file(results.number)}:", ""]
        words += [f"- {one.name}" for one in results.failures if one.choice != "known"]
    if job.loop and job.loop.to_apply:
        words += ["", "Findings about the tests:", ""]
        folder = job.loop.paths.directory
        words += [f"- {folder}/{item.finding.file}" for item in job.loop.to_apply]
    data = feedback.render("plan", number, "\n".join(words).encode(), artifact)
    return (Edit("write", feedback_file("plan", number), "why the plan is opened again", data),)
