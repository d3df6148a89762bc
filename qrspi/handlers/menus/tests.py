"""Tests that fail: before anybody began, one by one after a run, and at the last gate."""

from __future__ import annotations

from typing import Literal

from qrspi.core.artifacts.branch_map import FILE as BRANCH_MAP
from qrspi.core.artifacts.parallelization import BASELINE
from qrspi.core.artifacts.task_file import task_path
from qrspi.core.code_steps import baseline, shipping, test, test_results
from qrspi.core.code_steps.baseline import Baseline
from qrspi.core.code_steps.batch import FEATURE
from qrspi.core.code_steps.test_results import Results
from qrspi.core.errors import Refusal
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP, is_full
from qrspi.core.records.approvals import Record
from qrspi.core.text import headings
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.decisions import approve, rewind
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus import loop
from qrspi.handlers.menus.menu import More, stop
from qrspi.handlers.tasks import commands, drafts
from qrspi.world.machine import clock
from qrspi.world.runs.dry_run import DryRunWorkspace


def at_gate(job: Job, key: str, more: More) -> ChangeSet:
    match key:
        case "ship":
            return approve.plan(job, "test", Consent(more.who, True, None, more.reason, more.text))
        case "rerun":
            return _again(job, "rerun")
        case "review" if job.loop and job.loop.stage == "closed":
            return loop.again(job, "loop", more)
        case "review":
            return _again(job, "review")
        case _:
            return _fix(job, more)


def _again(job: Job, then: Literal["rerun", "review"]) -> ChangeSet:
    newest = test_results.newest(job.workspace)
    results = newest or shipping.blank(job.facts, time=clock.now_utc())
    what = {"rerun": "the tests are run again", "review": "reviewers are sent all the same"}[then]
    page = test_results.results_file(results.number)
    sentence = shipping.tests_now(job.facts, results).sentence
    data = test_results.render(results._replace(then=then), sentence)
    return ChangeSet(f"{then}-tests", "test", results.number, (Edit("write", page, what, data),))


def _fix(job: Job, more: More) -> ChangeSet:
    results = test_results.newest(job.workspace)
    if results and test.repairs_failures(job.facts, results):
        _refuse_words(job, more)
        return _written(job, results.all_to_fix, "fix", "each failure is repaired by a task")
    return _to_plan(job, more)


def _refuse_words(job: Job, more: More) -> None:
    if more.reason:
        hint = f"qrspi rewind {job.run} --to plan -m TEXT"
        text = f"fix makes a task of the failure itself; `{hint}` takes your words to the plan"
        raise Refusal(Problem("usage", text, field="-m", found="words", hint=hint))


def _to_plan(job: Job, more: More) -> ChangeSet:
    """What is chosen comes behind the record, as the gate asks until then whether to ship, and
    before the plan is a draft, as nobody asks about failures any more from then on."""
    change = rewind.plan(job, "plan", more.who, words=_why(job, more.reason))
    lines = [at for at, edit in enumerate(change.edits, 1) if edit.kind == "append"]
    behind = max(lines, default=0)
    return change._replace(
        edits=(*change.edits[:behind], *_all_chosen(job), *change.edits[behind:]),
        covers=(*change.covers, "feedback", test_results.FOLDER),
        notes=(*change.notes, f"back to the plan: {', '.join(change.concerns)} are drafts again"),
    )


def _all_chosen(job: Job) -> tuple[Edit, ...]:
    results = test_results.newest(job.workspace)
    if results is None or not results.pending:
        return ()
    page = test_results.results_file(results.number)
    sentence = shipping.tests_now(job.facts, results).sentence
    data = test_results.render(results.all_to_fix, sentence)
    return (Edit("write", page, "each failure is to be repaired", data),)


def _why(job: Job, said: str) -> bytes:
    results = test_results.newest(job.workspace)
    sentence = shipping.tests_now(job.facts, results).sentence
    words = [f"{sentence}. A person chose to fix it: plan what that takes; {test.STAYS}."]
    if results:
        words += ["", f"See {test_results.results_file(results.number)}:", ""]
        words += [f"- {failure.name}" for failure in results.new]
    if job.loop and job.loop.to_apply:
        folder = job.loop.paths.directory
        words += ["", "Findings about the tests:", ""]
        words += [f"- {folder}/{item.finding.file}" for item in job.loop.to_apply]
    if path := test.unanswered(job.facts):
        words += ["", f"test-results.md was rejected as well; the words are in {path}."]
    words += ["", f"That person says: {said}"] if said else []
    return "\n".join(words).rstrip().encode()


def about_failure(job: Job, key: str, more: More) -> ChangeSet:
    if key == "rerun":
        return _again(job, "rerun")
    pending = test_results.newest(job.workspace)
    assert pending is not None and pending.pending  # the menu was derived from it
    _refuse_words(job, more)
    choice: test_results.Choice = "fix" if key == "fix" else "leave"
    note = f"{pending.pending[0].name}: {choice}"
    return _written(job, pending.chosen(choice), choice, note)


def _written(job: Job, results: Results, choice: str, note: str) -> ChangeSet:
    path = STEP["test"].artifact
    sentence = shipping.tests_now(job.facts, results).sentence
    record = drafts.with_block(job, path, "", commands.block(job.workspace, results, sentence))
    page = test_results.results_file(results.number)
    edits = (
        Edit("write", path, "the choice", record),
        Edit("write", page, note, test_results.render(results, sentence)),
    )
    return ChangeSet(f"test-{choice}", "test", results.number, edits, notes=(note,))


def at_baseline(job: Job, key: str, more: More) -> ChangeSet:
    taken = baseline.read(job.workspace)
    assert taken is not None  # the menu was derived from it
    match key:
        case "auto-fix":
            first = _repair(job, taken, more.who)
        case "proceed":
            first = (_known(taken),) if taken.state == "failed" else ()
        case _:
            return stop("implement")
    data = baseline.render(taken._replace(choice=key))
    # Written last: until then the menu is still open.
    edits = (*first, Edit("write", baseline.FILE, f"choice: {key}", data))
    return ChangeSet(
        f"baseline-{key}",
        "implement",
        0,
        edits,
        message=f"docs(qrspi): {key} the baseline for {slug_of(job.run)}",
        covers=(*(edit.path for edit in edits), baseline.LOG),
    )


def _known(taken: Baseline) -> Edit:
    text = (
        f"# Failures before the first task\n\nOf `{taken.command}` at {taken.commit[:12]}, output "
        f"in {baseline.LOG}. A person chose to go on with them.\n{baseline.listed(taken.failures)}"
    )
    return Edit("write", baseline.FAILURES, "what fails now is known", text.encode())


def _repair(job: Job, taken: Baseline, who: str) -> tuple[Edit, ...]:
    full = is_full(job.facts.route)
    edits = (_task(taken), *(_first_in_branch_map(job) if full else ()))
    return (*edits, *_approved(job, edits, ("plan", "parallelize") if full else ("plan",), who))


def _task(taken: Baseline) -> Edit:
    text = f"""\
---
status: approved
enforcement: strict
constraints: []
allowed_files: []
---

# Task 00: Make the tests pass before anything is built on them

`{taken.command}` exits {taken.exit} at {taken.commit[:12]}; its output is in the run's directory,
at `{baseline.LOG}`. Every other task starts from this one.
{baseline.listed(taken.failures)}
## Acceptance Criteria

- `{taken.command}` exits 0 in this task's work tree.
- No test is skipped, weakened or deleted to get there.
"""
    path = task_path(BASELINE)
    return Edit("write", path, "a task that repairs the tests, approved", text.encode())


def _first_in_branch_map(job: Job) -> tuple[Edit, ...]:
    data = change_set.content(job.workspace, BRANCH_MAP)
    if f"| {BASELINE} |".encode() in data:
        return ()
    branch = code_repository.find(job).branch(BASELINE)
    rows = f"| Task | Branch | Base |\n|---|---|---|\n| {BASELINE} | {branch} | {FEATURE} |\n"
    changed = _with_section(data, "Runtime Adjustments", rows)
    return (Edit("replace", BRANCH_MAP, f"{BASELINE} comes first", changed, data),)


def _with_section(data: bytes, title: str, text: str) -> bytes:
    span = next((span for span in headings.read(data).spans if span.title == title), None)
    if span is None:
        return data.rstrip() + f"\n\n## {title}\n\n{text}".encode()
    lines = data.split(b"\n")
    upto, behind = lines[: span.end], lines[span.end :]
    return b"\n".join(upto).rstrip() + f"\n\n{text}\n".encode() + b"\n".join(behind)


def _approved(
    job: Job, edits: tuple[Edit, ...], steps: tuple[str, ...], who: str
) -> tuple[Edit, ...]:
    """Approvals of the steps, with their texts as the edits will leave them."""
    with DryRunWorkspace(job.workspace.path).locked() as stage:
        for edit in edits:
            stage.write(edit.path, edit.data)
        marks = [change_set.mark(stage, step) for step in steps]
    return tuple(
        change_set.on_record(job, Record("approve", *mark, note="auto-fix of the baseline"), who)
        for mark in marks
        if not change_set.is_newest_record(job, "approve", mark)
    )
