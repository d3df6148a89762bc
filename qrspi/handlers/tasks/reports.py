"""What is said of a task: an implementer's report, a person's acceptance or skip."""

from __future__ import annotations

from qrspi.core.code_steps import batch
from qrspi.core.code_steps import task_state as taskstate
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.records import task_records as taskfiles
from qrspi.core.records.task_records import Ending, Outcome, Report, ReportStatus
from qrspi.handlers.changes import code_repository as workplace
from qrspi.handlers.changes.change_set import Edit, Move
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import task_log
from qrspi.world.git import refs, worktrees
from qrspi.world.machine import clock
from qrspi.world.machine import git_person as person


def state_of(job: Job, key: str) -> TaskState:
    """Where the task stands now; refused when there is no such task."""
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    states = taskstate.survey(job.facts, (*planned.items, *fixes.items))
    found = next((task for task in states if task.key == key), None)
    if found:
        return found
    if planned.problems:
        raise Refusal(*planned.problems)
    listed = ", ".join(task.key for task in states) or "none"
    text = f"{key} is no task of phase {job.facts.phase}; there is {listed}"
    hint = f"qrspi task list {job.run}"
    raise Refusal(Problem("unknown-task", text, "", "TASK", key, listed, hint))


def report(job: Job, key: str, status: ReportStatus, commit: str | None, words: str) -> Move:
    task = state_of(job, key)
    _can_report(job, task)
    full = _resolved(job, task, commit) if commit else ""
    if status != "BLOCKED" and not full:
        text = f"a report of {status} names the commit that was made: --commit SHA"
        raise Misuse(Problem("usage", text, field="--commit", expected="a commit"))
    record = Report(status, full, clock.now_utc(), words)
    data = taskfiles.render_report(key, record)
    log = task_log.of_report(job, task, data)
    edits = (
        Edit("write", taskfiles.log_file(key), "the report, word for word", log),
        Edit("write", taskfiles.report_file(key), f"{status} {full[:12]}".strip(), data),
    )
    return Move("task-report", key, task.loop.number if task.loop else 0, edits)


def _can_report(job: Job, task: TaskState) -> None:
    if task.outcome:
        text = f"{task.key} is {task.outcome.ending}: a person ended it, and no report changes that"
        raise Refusal(Problem("task-ended", text, taskfiles.outcome_file(task.key)))
    if task.start is None:
        start = f"qrspi task start {job.run} {task.key}"
        text = f"{task.key} is not started, so there is nothing to report: `{start}`"
        raise Refusal(Problem("not-started", text, hint=start))


def _resolved(job: Job, task: TaskState, commit: str) -> str:
    """In the task's own work tree, where HEAD is what an implementer means by it."""
    repo = workplace.repository_of(job)
    own = worktrees.at(repo, f"{repo.root}/{task.start.worktree}") if task.start else None
    full = refs.resolve(own or repo, commit)
    if full:
        return full
    text = f"{task.key}: {commit!r} is no commit in {repo.root}: expected the one that was made"
    raise Refusal(Problem("unknown-commit", text, "", "--commit", commit, "a commit", "git log"))


def accept(job: Job, key: str, reason: str, who: str = "") -> Move:
    """The task stays as it is, with what is open about it. There must be something to take."""
    task = state_of(job, key)
    _can_end(task)
    if not task.commit:
        skip = f"qrspi task skip {job.run} {key} --reason TEXT"
        text = f"{key} has no commit that could be accepted; to leave it out: `{skip}`"
        raise Refusal(Problem("nothing-to-accept", text, hint=skip))
    return _ended(job, task, "accepted-with-issues", reason, who)


def skip(job: Job, key: str, reason: str, who: str = "") -> Move:
    task = state_of(job, key)
    _can_end(task)
    return _ended(job, task, "skipped-by-user", reason, who)


def _can_end(task: TaskState) -> None:
    if task.terminal:
        text = f"{task.key} has come to its end already: {task.state}"
        raise Refusal(Problem("task-ended", text, task.item.file, found=task.state))


def _ended(job: Job, task: TaskState, ending: Ending, reason: str, who: str) -> Move:
    if not reason.strip():
        text = "say why: --reason TEXT"
        raise Misuse(Problem("usage", text, field="--reason", expected="a text"))
    by = who or person.at(job.workspace.path)
    record = Outcome(ending, reason, by, clock.now_utc())
    data = taskfiles.render_outcome(task.key, record)
    path = taskfiles.outcome_file(task.key)
    edits = (Edit("write", path, f"{ending} by {by}", data), *_closing(task))
    return Move(f"task-{ending}", task.key, task.loop.number if task.loop else 0, edits)


def _closing(task: TaskState) -> tuple[Edit, ...]:
    """A round that is left open says so: nobody applies its findings any more."""
    loop = task.loop
    if loop is None or loop.stage != "fixing":
        return ()
    path = loop.paths.dispositions
    text = (
        f"# Round {loop.number:02d} dispositions\n\nNothing was applied: a person ended the task.\n"
    )
    return (Edit("write", path, "nothing was applied", text.encode()),)
