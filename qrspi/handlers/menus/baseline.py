"""Tests that failed before anybody began: repair them first, live with them, or stop."""

from __future__ import annotations

from qrspi.core.artifacts.branch_map import FILE
from qrspi.core.artifacts.parallelization import BASELINE
from qrspi.core.artifacts.task_file import task_path
from qrspi.core.code_steps.batch import FEATURE
from qrspi.core.errors import Halt
from qrspi.core.filenames import slug_of
from qrspi.core.model import Problem
from qrspi.core.pipeline import is_full
from qrspi.core.records import baseline
from qrspi.core.records.approvals import Mark
from qrspi.core.records.baseline import Baseline
from qrspi.core.text import headings
from qrspi.core.tree import Fault
from qrspi.handlers.changes import approval_lines as records
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus.menu import More
from qrspi.world.runs.dry_run import Rehearsal


def plan(job: Job, key: str, more: More) -> Move:
    taken = baseline.read(job.workspace)
    assert taken is not None  # the menu was derived from it
    match key:
        case "auto-fix":
            return _move(job, key, (*_repair(job, taken, more.who), _chosen(taken, "auto-fix")))
        case "proceed":
            return _move(job, key, (_known(taken), _chosen(taken, "proceed")))
        case _:
            return Move("stop", "implement", 0, (), notes=("nothing was changed",))


def _move(job: Job, key: str, edits: tuple[Edit, ...]) -> Move:
    message = f"docs(qrspi): {key} the baseline for {slug_of(job.run)}"
    covers = (*(edit.path for edit in edits), baseline.LOG)
    return Move(f"baseline-{key}", "implement", 0, edits, message, covers)


def _chosen(taken: Baseline, choice: baseline.Choice) -> Edit:
    """The last one: until then the menu is still open."""
    data = baseline.render(taken._replace(choice=choice))
    return Edit("write", baseline.FILE, f"choice: {choice}", data)


def _known(taken: Baseline) -> Edit:
    text = (
        f"# Failures before the first task\n\nOf `{taken.command}` at {taken.commit[:12]}, output "
        f"in {baseline.LOG}. A person chose to go on with them.\n{baseline.listed(taken.failures)}"
    )
    return Edit("write", baseline.FAILURES, "what fails now is known", text.encode())


def _repair(job: Job, taken: Baseline, who: str) -> tuple[Edit, ...]:
    """The task, its place in the plan, and the word of the person who wanted both."""
    edits = [_task(taken)]
    steps = ["plan"]
    if is_full(job.facts.route):
        edits += _adjusted(job)
        steps.append("parallelize")
    marks = _marks(job, edits, steps)
    said = "auto-fix of the baseline"
    lines = (
        records.line(job, "approve", mark, who, note=said)
        for mark in marks
        if not records.is_newest(job, "approve", mark)
    )
    return (*edits, *lines)


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


def _adjusted(job: Job) -> list[Edit]:
    data = job.workspace.read(FILE)
    if isinstance(data, Fault):
        raise Halt(Problem("unreadable", f"cannot read {FILE}: {data.detail or data.kind}", FILE))
    branch = workplace.find(job).branch(BASELINE)
    rows = f"| Task | Branch | Base |\n|---|---|---|\n| {BASELINE} | {branch} | {FEATURE} |\n"
    if f"| {BASELINE} |".encode() in data:
        return []
    changed = with_section(data, "Runtime Adjustments", rows)
    return [Edit("replace", FILE, f"{BASELINE} comes first", changed, data)]


def with_section(data: bytes, title: str, text: str) -> bytes:
    """The text at the end of its section, which is made when there is none."""
    span = next((one for one in headings.read(data).spans if one.title == title), None)
    if span is None:
        return data.rstrip() + f"\n\n## {title}\n\n{text}".encode()
    lines = data.split(b"\n")
    upto, behind = lines[: span.end], lines[span.end :]
    return b"\n".join(upto).rstrip() + f"\n\n{text}\n".encode() + b"\n".join(behind)


def _marks(job: Job, edits: list[Edit], steps: list[str]) -> list[Mark]:
    """The texts as they will be once the edits are made."""
    with Rehearsal(job.workspace.path).locked() as stage:
        for edit in edits:
            stage.write(edit.path, edit.data)
        return [records.mark(stage, step) for step in steps]
