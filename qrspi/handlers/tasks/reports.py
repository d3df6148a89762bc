"""What is said about a task: an implementer's report, a person's acceptance or skip."""

from __future__ import annotations

import os

from qrspi.core.artifacts import task_criteria
from qrspi.core.code_steps import allowed_files, batch, implementers, task_state
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem, TestState
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Ending, Outside, Report, ReportStatus, TaskOutcome
from qrspi.core.text.plain_diff import as_text
from qrspi.core.text.shell_words import git
from qrspi.core.text.shortened import few
from qrspi.core.tree import exists
from qrspi.handlers.changes import (
    as_committed,
    change_set,
    code_repository,
    review_target,
    task_base,
)
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.tasks import commands, reviews
from qrspi.handlers.tasks.start import unknown_task
from qrspi.world.git import diffs, refs, worktrees
from qrspi.world.machine import clock, git_person

_ENDED = {"accepted-with-issues": "accept", "skipped-by-user": "skip"}


def state_of(job: Job, key: str) -> TaskState:
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    states = task_state.survey(job.facts, (*planned.items, *fixes.items))
    for task in states:
        if task.key == key:
            return task
    if planned.problems:
        raise Refusal(*planned.problems)
    raise unknown_task(job, key, (task.key for task in states))


def worktree(job: Job, task: TaskState) -> str:
    """The task's work tree; '' before it was started."""
    if task.start is None:
        return ""
    return worktrees.checked_place(code_repository.repository_of(job), task.start.worktree)


def report(job: Job, key: str, status: ReportStatus, commit: str | None, words: str) -> ChangeSet:
    task = state_of(job, key)
    _can_report(job, task)
    if task.awaits_tests:
        raise Refusal(_tests_first(job, key))
    if status != "BLOCKED" and job.facts.config.has_checkpoints:
        from qrspi.handlers.gates import checkpoint_rows

        checkpoint_rows.refuse_undecided(job, key)
    full = _resolved(job, task, commit) if commit else ""
    if status != "BLOCKED":
        _refuse_unsaid(status, full, words)
        _refuse_without_work(job, task, full)
        _refuse_judged(job, task, full)
        _refuse_unmapped(job, task, words)
    elif not words.strip():
        text = "a report of BLOCKED says what keeps it from going on: -m TEXT"
        raise Misuse(Problem("usage", text, field="-m", expected="a text"))
    outside = _outside(job, task, full) if status != "BLOCKED" else Outside()
    record = Report(status, full, clock.now_utc(), words, outside=outside)
    data = task_records.render_report(key, record)
    log = reviews.log_with_report(job, task, data, "" if record.done else record.time)
    edits = (
        *_answers_again(job, key),
        Edit("write", task_records.log_file(key), "the report, word for word", log),
        Edit("write", task_records.report_file(key), f"{status} {full[:12]}".strip(), data),
    )
    number = task.loop.round if task.loop else 0
    message = change_set.message("report", key, job.run)
    notes = (f"{key} changes {outside.words}",) if outside.number else ()
    return ChangeSet("task-report", key, number, edits, message=message, notes=notes)


def _outside(job: Job, task: TaskState, commit: str) -> Outside:
    assert task.start is not None
    repo = code_repository.repository_of(job)
    base = task_base.find(job, task.key, task.start, commit).commit
    data = job.workspace.read(task.item.file)
    below = os.path.relpath(job.project, repo.root)
    names = diffs.names(repo, (base, commit), ".")
    return allowed_files.outside(data, tuple(map(as_text, names)), below)


def report_tests(
    job: Job, key: str, status: ReportStatus, commit: str | None, words: str
) -> ChangeSet:
    task = state_of(job, key)
    _can_report(job, task)
    if not task.awaits_tests:
        raise Refusal(_no_tests(job, task))
    full = _resolved(job, task, commit) if commit else ""
    if status != "BLOCKED":
        _refuse_unsaid(status, full, words)
        # The same commit may be reported again, now with the reason why its tests pass.
        _refuse_without_work(job, task._replace(tests=None), full)
        _refuse_beside_the_commit(job, task, full)
    ran = status != "BLOCKED" and not job.options.dry_run
    seen = commands.before_the_code(job, worktree(job, task)) if ran else None
    record = Report(status, full, clock.now_utc(), words, seen or "")
    path, data = task_records.tests_file(key), task_records.render_report(key, record)
    edits = (
        *_answers_again(job, key),
        Edit("write", path, f"tests {status} {full[:12]}".strip(), data),
    )
    message = change_set.message("report the tests of", key, job.run)
    notes = (f"the tests of {key}: {_SEEN[seen]}",) if seen else ()
    return ChangeSet("task-tests", key, 0, edits, message=message, notes=notes)


def _answers_again(job: Job, key: str) -> tuple[Edit, ...]:
    path = task_records.again_file(key)
    there = exists(job.workspace, path)
    return (Edit("remove", path, "its agent was sent again and has reported"),) if there else ()


_SEEN: dict[TestState, str] = {
    "failed": "run here, and they fail, as they should before the code is written",
    "passed": "run here, and nothing fails that did not fail before, so they show nothing yet",
    "not-run": "not run, as config.md names no test command that can be started",
}


def _tests_first(job: Job, key: str) -> Problem:
    hint = f"qrspi task report {job.run} {key} --tests --status DONE --commit HEAD"
    text = f"{key}: its tests are written first, and nobody has reported them yet: `{hint}`"
    return Problem("not-awaited", text, field="--tests", hint=hint)


def _no_tests(job: Job, task: TaskState) -> Problem:
    why = "they are reported already" if task.tests else "nobody waits for them"
    text = f"{task.key}: no tests are to be reported now: {why}"
    return Problem("not-awaited", text, field="--tests", hint=f"qrspi task list {job.run}")


def _refuse_unmapped(job: Job, task: TaskState, words: str) -> None:
    if not implementers.is_acceptance(task.key):
        return
    tasks = task_state.survey(job.facts, batch.read(job.facts).items)
    lost = task_criteria.unmapped(implementers.criteria(job.facts, tasks), words)
    if not lost:
        return
    names = few([criterion.name for criterion in lost], as_committed.LISTED)
    text = (
        f"{task.key}: no test is named for {names}; expected a line `- CRITERION: TEST` for each "
        "criterion in the text given with -F FILE"
    )
    problem = Problem(
        "evidence-missing", text, field="-F", found=names, expected="a line for each criterion"
    )
    raise Refusal(problem)


def _can_report(job: Job, task: TaskState) -> None:
    if task.outcome:
        text = f"{task.key} has come to its end, {task.outcome.ending}: no report changes that"
        raise Refusal(Problem("task-ended", text, task_records.outcome_file(task.key)))
    if task.start is None:
        start = f"qrspi task start {job.run} {task.key}"
        if task.state == "waiting":
            start = f"qrspi task list {job.run}"  # it cannot be started yet, and the list says why
        text = f"{task.key} is not started, so there is nothing to report: `{start}`"
        raise Refusal(Problem("not-started", text, hint=start))


def _refuse_unsaid(status: ReportStatus, commit: str, words: str) -> None:
    if not commit:
        text = f"a report of {status} names the commit that was made: --commit SHA"
        raise Misuse(Problem("usage", text, field="--commit", expected="a commit"))
    if status == "DONE_WITH_CONCERNS" and not words.strip():
        text = f"a report of {status} says what the concerns are: -m TEXT"
        raise Misuse(Problem("usage", text, field="-m", expected="a text"))


def _refuse_without_work(job: Job, task: TaskState, commit: str) -> None:
    """Reviewers only look at commits, so what is not committed does not exist for them."""
    assert task.start is not None
    base = task_base.find(job, task.key, task.start, commit).commit
    tests = task.tests.commit if task.tests else ""
    if commit not in (base, task.start.base_commit, tests):
        return
    since = "its tests were written" if commit == tests else "the task began"
    place = worktree(job, task)
    text = _nothing_since(job, task, f"{since} at {commit[:12]}")
    raise _not_committed(place, commit, text, git(place, "status"))


def _refuse_judged(job: Job, task: TaskState, commit: str) -> None:
    """A commit that was sent back would be sent back again, for ever."""
    loop = task_state.settled_nothing(job.facts, task, commit)
    if loop is None:
        return
    hint = f"qrspi task report {job.run} {task.key} --status BLOCKED -m TEXT"
    text = (
        f"{_nothing_since(job, task, f'round {loop.round} looked at {commit[:12]}')}; commit what "
        f"settles its findings there and report that, or say why nothing is to be done: `{hint}`"
    )
    raise _not_committed(worktree(job, task), commit, text, hint)


def _nothing_since(job: Job, task: TaskState, what: str) -> str:
    assert task.start is not None
    own = worktrees.at(code_repository.repository_of(job), worktree(job, task))
    left = worktrees.uncommitted(own) if own else ()
    beside = (
        f"; not committed there: {few([as_text(name) for name in left], as_committed.LISTED)}"
        if left
        else ""
    )
    return f"{task.key}: nothing is committed in {task.start.worktree} since {what}{beside}"


def _not_committed(place: str, commit: str, text: str, hint: str) -> Refusal:
    expected = "another commit"
    return Refusal(Problem("nothing-committed", text, place, "--commit", commit, expected, hint))


def _refuse_beside_the_commit(job: Job, task: TaskState, commit: str) -> None:
    """Tests run in the work tree, and must say something of the commit alone."""
    own = worktrees.at(code_repository.repository_of(job), worktree(job, task))
    if own is None or not job.facts.config.test_command:
        return
    found = as_committed.difference(own, commit, new=True)
    if not found:
        return
    text = (
        f"{task.key}: its tests run in {own.root}, which is not at {commit[:12]} as reported; "
        f"{found}"
    )
    hint = git(own.root, "status")
    problem = Problem(
        "head-differs", text, own.root, "--commit", found, f"{commit[:12]} alone", hint=hint
    )
    raise Refusal(problem)


_OF_A_WORK_TREE = ("HEAD", "@")  # elsewhere it stands for work of somebody else


def _resolved(job: Job, task: TaskState, commit: str) -> str:
    """In the task's own work tree, where HEAD is what an implementer means by it."""
    repo = code_repository.repository_of(job)
    own = worktrees.at(repo, worktree(job, task))
    if own is None and commit.startswith(_OF_A_WORK_TREE):
        raise Refusal(review_target.lost_work_tree(job, task.key, worktree(job, task)))
    full = refs.resolve(own or repo, commit)
    if full:
        return full
    text = f"{task.key}: {commit!r} is not a commit in {repo.root}: expected the one that was made"
    problem = Problem(
        "unknown-commit",
        text,
        field="--commit",
        found=commit,
        expected="a commit",
        hint=git((own or repo).root, "log"),
    )
    raise Refusal(problem)


def accept(job: Job, key: str, reason: str, who: str = "") -> ChangeSet:
    task = state_of(job, key)
    _can_end(task)
    if not task.commit and task.state != "imported":
        skip = f"qrspi task skip {job.run} {key} --reason TEXT"
        text = f"{key} has no commit that could be accepted; to leave it out: `{skip}`"
        raise Refusal(Problem("nothing-to-accept", text, hint=skip))
    return _ended(job, task, "accepted-with-issues", reason, who)


def accepted_as(job: Job, key: str) -> str:
    task = state_of(job, key)
    settled = task.loop and task.loop.nothing_open(task.commit)
    return "accepted" if settled else "accepted-with-issues"


def accept_imported(job: Job, reason: str, who: str = "") -> ChangeSet:
    planned, fixes = batch.read(job.facts), batch.repairs(job.workspace)
    states = task_state.survey(job.facts, (*planned.items, *fixes.items))
    imported = [task for task in states if task.state == "imported"]
    if not imported:
        text = f"no task of {job.run} was worked on elsewhere and waits for a word"
        hint = f"qrspi task list {job.run}"
        raise Refusal(Problem("nothing-to-accept", text, hint=hint))
    changes = [_ended(job, task, "accepted-with-issues", reason, who) for task in imported]
    edits = tuple(edit for change in changes for edit in change.edits)
    keys = tuple(task.key for task in imported)
    message = change_set.message("accept", ", ".join(keys), job.run)
    return ChangeSet(
        "task-accepted-with-issues", job.facts.step, 0, edits, message=message, concerns=keys
    )


def skip(job: Job, key: str, reason: str, who: str = "") -> ChangeSet:
    task = state_of(job, key)
    _can_end(task)
    return _ended(job, task, "skipped-by-user", reason, who)


def retry(job: Job, key: str, reason: str, who: str = "") -> ChangeSet:
    """Only a record: whoever is sent next finds it, and its report removes it."""
    task = state_of(job, key)
    if task.state != "blocked":
        hint = f"qrspi task list {job.run}"
        text = f"{key} is {task.state}: only a task that is blocked is sent again like this"
        raise Refusal(Problem("not-offered", text, found=task.state, hint=hint))
    by, number = git_person.at(job.workspace.path), task.loop.round if task.loop else 0
    data = task_records.render_again(key, reason, by, clock.now_utc())
    edit = Edit("write", task_records.again_file(key), f"sent again by {by}", data)
    record = change_set.decision(job, "task", key, number, edit)
    line = change_set.on_record(job, record._replace(option="retry"), who)
    message = change_set.message("send again", key, job.run)
    covers = (line.path, edit.path)
    return ChangeSet("task-retry", key, number, (line, edit), message=message, covers=covers)


def _can_end(task: TaskState) -> None:
    if task.terminal:
        text = f"{task.key} has come to its end already: {task.state}"
        raise Refusal(Problem("task-ended", text, task.item.file, found=task.state))


def _ended(job: Job, task: TaskState, ending: Ending, reason: str, who: str) -> ChangeSet:
    if not reason.strip():
        text = "say why: --reason TEXT"
        raise Misuse(Problem("usage", text, field="--reason", expected="a text"))
    by, number = git_person.at(job.workspace.path), task.loop.round if task.loop else 0
    record = TaskOutcome(ending, reason, by, clock.now_utc(), who)
    data = task_records.render_outcome(task.key, record)
    path = task_records.outcome_file(task.key)
    edit = Edit("write", path, f"{ending} by {by}", data)
    decision = change_set.decision(job, "task", task.key, number, edit)
    line = change_set.on_record(job, decision._replace(option=ending), who)
    edits = (line, edit, *_closing(task))
    message = change_set.message(_ENDED[ending], task.key, job.run)
    covers = tuple(edit.path for edit in edits)
    return ChangeSet(f"task-{ending}", task.key, number, edits, message=message, covers=covers)


def _closing(task: TaskState) -> tuple[Edit, ...]:
    loop = task.loop
    if loop is None or loop.stage != "fixing":
        return ()
    head = f"# Round {loop.round:02d} dispositions"
    text = f"{head}\n\nNothing was applied: a person ended the task.\n".encode()
    return (Edit("write", loop.paths.dispositions, "nothing was applied", text),)
