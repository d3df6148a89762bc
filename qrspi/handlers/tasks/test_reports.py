"""Somebody ran the tests by hand, and says what came of it."""

from __future__ import annotations

from qrspi.core.code_steps import integrate, test_results, test_standing
from qrspi.core.code_steps.test_results import Results
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, TestState
from qrspi.core.pipeline import STEP
from qrspi.core.steps import permits
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import drafts, tests
from qrspi.world.git import refs
from qrspi.world.machine import clock


def plan(job: Job, state: TestState, words: str, who: str = "") -> ChangeSet:
    """The record comes first: without it the page is nobody's word."""
    if problem := _not_now(job) or _contradicts(job, state):
        raise Refusal(problem)
    place = code_repository.find(job)
    results = test_standing.blank(job.facts, refs.head(place.repo) or "", clock.now_utc())._replace(
        reporter=change_set.decider(job, who), reported=state, words=words
    )
    sentence = test_standing.described(results).sentence
    artifact, page = STEP["test"].artifact, test_results.results_file(results.number)
    about = Edit("write", page, sentence, test_results.render(results, sentence))
    said = change_set.decision(job, "test-report", "test", results.number, about)
    edits = (
        change_set.on_record(job, said._replace(option=state, note=words), who),
        Edit("write", artifact, "what was reported", _record(job, results, sentence)),
        about,
    )
    return ChangeSet(
        "test-report",
        "test",
        results.number,
        edits,
        change_set.message("report about", "test", job.run),
        (artifact, page),
    )


def _record(job: Job, results: Results, sentence: str) -> bytes:
    title = drafts.TITLES["test"].format(phase=job.facts.phase)
    fields: drafts.Fields = {"status": "draft", "phase": job.facts.phase, "commit": results.commit}
    text = tests.block(job.workspace, results, sentence)
    return drafts.with_block(job, STEP["test"].artifact, title, text, fields)


def _not_now(job: Job) -> Problem | None:
    waiting = integrate.pending(job.workspace, integrate.work(job.facts).wanted)
    if job.facts.step == "test" and not waiting:
        return None
    what = f"{waiting[0].key} is not merged yet" if waiting else "the run is not at test"
    text = f"there is nothing to report about yet, {what}: {permits.now(job.next)}"
    return Problem("not-ready", text, hint=job.next.command)


def _contradicts(job: Job, state: TestState) -> Problem | None:
    """Nobody reports away what the engine saw."""
    results = test_results.newest(job.workspace)
    if results is None or results.exit in (None, 0) or state == "failed":
        return None
    if not test_standing.is_current(job.facts, results):
        return None
    again = f"qrspi resolve {job.run} rerun"
    sentence = test_standing.described(results).sentence
    text = f"{sentence}, and nothing changed since: have them run again with `{again}`"
    page = test_results.results_file(results.number)
    return Problem("tests-failed", text, file=page, found="failed", expected="passed", hint=again)
