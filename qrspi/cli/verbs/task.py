"""`qrspi task`: the tasks of a phase, from their work trees to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, get_args

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import Desk
from qrspi.cli.session import Session
from qrspi.core.code_steps import batch
from qrspi.core.code_steps import task_state as taskstate
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import subject, task_key
from qrspi.core.records.task_records import ReportStatus
from qrspi.handlers.changes.change_set import Move, look
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import baseline as baseline_run
from qrspi.handlers.tasks import reports as task_records
from qrspi.handlers.tasks import start as task_start
from qrspi.render import decisions as rendered
from qrspi.render import problems
from qrspi.render import run_page as states
from qrspi.render import task_table as pages
from qrspi.render.safe_text import one_line
from qrspi.world.files.run_tree import DiskTree

REPORT_LIMIT = 1024 * 1024


@click.group("task", cls=VerbGroup)
def command() -> None:
    """The tasks of a phase: list and start them, report, accept or skip one, take the baseline.

    A task is named task-03 or 03, a repair by its folder and file, ci-round-01/ci-command. RUN
    may stand before or behind the action word.
    """


def key_of(word: str) -> str | None:
    """The task that a word names; None when it names none."""
    about = subject(word)
    return about.key if about and about.is_task else task_key(word)


def run_and_tasks(words: Sequence[str], usage: str) -> tuple[str | None, tuple[str, ...]]:
    """`[RUN] [TASK…]`."""
    first, rest = (words[0], words[1:]) if words else (None, ())
    if first is not None and key_of(first):
        first, rest = None, words
    keys = tuple(key for word in rest if (key := key_of(word)))
    if len(keys) < len(rest):
        bad = next(word for word in rest if not key_of(word))
        text = f"{bad!r} is no task; expected task-NN, NN or the name of a repair"
        raise Misuse(Problem("usage", text, "", "TASK", bad, "task-NN", usage))
    return first, keys


def run_and_task(words: Sequence[str], usage: str) -> tuple[str | None, str]:
    run, keys = run_and_tasks(words, usage)
    if len(keys) == 1:
        return run, keys[0]
    text = f"expected one task: {usage}"
    raise Misuse(Problem("usage", text, "", "TASK", ", ".join(keys), "one task", usage))


@command.command("list")
@click.argument("run", required=False)
@click.pass_obj
def list_(session: Session, run: str | None) -> None:
    """Every task of the phase by wave, and every repair: where it stands and what it waits for."""
    found = session.run(run)
    tree = DiskTree(found.path)
    facts = survey(tree).facts
    if facts is None:
        raise Refusal(*survey(tree).state.errors)
    planned, fixes = batch.read(facts), batch.repairs(tree)
    tasks = taskstate.survey(facts, (*planned.items, *fixes.items))
    wrong = (*planned.problems, *fixes.problems)
    document = {
        "schema": "qrspi/task-list/v1",
        "run": found.name,
        "phase": facts.phase,
        "tasks": [pages.document(task) for task in tasks],
        "waves": _waves(tasks),
        "problems": [problems.violation(one) for one in wrong],
        "warnings": [problems.warning(one) for one in planned.warnings],
    }
    lines = [f"{found.name}, phase {facts.phase}", "", *pages.lines(tasks, session.width)]
    lines += [f"error: {one_line(one.message)}" for one in wrong]
    lines += [f"warning: {one_line(one.message)}" for one in planned.warnings]
    session.answer(document, lines)


def _waves(tasks: Sequence[taskstate.TaskState]) -> list[list[str]]:
    planned = [task for task in tasks if not task.item.is_repair]
    numbers = sorted({task.item.wave for task in planned})
    return [[task.key for task in planned if task.item.wave == number] for number in numbers]


@command.command("start")
@click.argument("words", nargs=-1, metavar="[RUN] [TASK…]")
@click.option("--dry-run", is_flag=True, help="Say what would be made; change nothing.")
@click.pass_obj
def start(session: Session, words: tuple[str, ...], dry_run: bool) -> None:
    """Give tasks a branch and a work tree; without TASK, all that can start now.

    What a killed command left is used or repaired; what is somebody else's is refused.
    """
    run, keys = run_and_tasks(words, "qrspi task start [RUN] [TASK…]")
    desk = Desk(session, session.run(run), "task start")
    if dry_run:
        job = desk.look()
        done = [task_start.rehearse(job, key) for key in keys or task_start.ready(job)]
    else:
        done = []

        def begin(job: Job) -> Performed:
            done.extend(task_start.start(job, key) for key in keys or task_start.ready(job))
            return task_start.performed(job, done)

        _on_locked(desk, begin)
    after = desk.look().next
    document = {
        "schema": "qrspi/task-start/v1",
        "run": desk.run.name,
        "dry_run": dry_run,
        "tasks": [pages.started(one) for one in done],
        "next": states.next_document(after),
    }
    lines = [one_line(pages.started_line(one, dry_run=dry_run)) for one in done]
    nothing = ["No task can start now."] if not done else []
    session.answer(document, [*lines, *nothing, "", *states.next_lines(after)])


def _on_locked(desk: Desk, handler: Callable[[Job], Performed]) -> Performed:
    with desk.workspace.locked(desk.options.lock_timeout, f"qrspi {desk.verb}"):
        return carry_out(handler, look(desk.workspace, desk.options))


@command.command("report")
@click.argument("words", nargs=-1, metavar="[RUN] TASK")
@click.option("--status", required=True, type=click.Choice(get_args(ReportStatus)))
@click.option("--commit", metavar="SHA", help="What was made; needed unless BLOCKED.")
@click.option("-m", "--message", default="", metavar="TEXT", help="What is to be said about it.")
@click.option("-F", "--file", type=click.File("rb"), help="The same from a file, or - for stdin.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; change nothing.")
@click.pass_obj
def report(
    session: Session,
    words: tuple[str, ...],
    status: ReportStatus,
    commit: str | None,
    message: str,
    file: BinaryIO | None,
    dry_run: bool,
) -> None:
    """An implementer's word about its task. Reviewers are sent unless it is BLOCKED."""
    run, key = run_and_task(words, "qrspi task report [RUN] TASK --status STATUS --commit SHA")
    said = file.read(REPORT_LIMIT).decode("utf-8", "replace") if file else message
    _decided(
        session,
        run,
        "report",
        lambda job: task_records.report(job, key, status, commit, said),
        dry_run,
        task=key,
        status=status,
    )


@command.command("accept")
@click.argument("words", nargs=-1, metavar="[RUN] TASK")
@click.option("--reason", required=True, metavar="TEXT", help="Why it is good enough.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; change nothing.")
@click.pass_obj
def accept(session: Session, words: tuple[str, ...], reason: str, who: str, dry_run: bool) -> None:
    """Take a task as it is, with its open issues."""
    run, key = run_and_task(words, "qrspi task accept [RUN] TASK --reason TEXT")

    def build(job: Job) -> Move:
        return task_records.accept(job, key, reason, who)

    _decided(session, run, "accept", build, dry_run, task=key, status="accepted-with-issues")


@command.command("skip")
@click.argument("words", nargs=-1, metavar="[RUN] TASK")
@click.option("--reason", required=True, metavar="TEXT", help="Why it is left out.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be written; change nothing.")
@click.pass_obj
def skip(session: Session, words: tuple[str, ...], reason: str, who: str, dry_run: bool) -> None:
    """Leave a task out. It is not merged."""
    run, key = run_and_task(words, "qrspi task skip [RUN] TASK --reason TEXT")

    def build(job: Job) -> Move:
        return task_records.skip(job, key, reason, who)

    _decided(session, run, "skip", build, dry_run, task=key, status="skipped-by-user")


def _decided(
    session: Session,
    run: str | None,
    verb: str,
    build: Callable[[Job], Move],
    dry_run: bool,
    **more: Any,
) -> None:
    desk = Desk(session, session.run(run), f"task {verb}")
    made = desk.decide(build, dry_run=dry_run)
    name = f"task-{verb}"
    answer = made.state.next
    document = rendered.document(name, desk.run.name, made.move, made.done, answer, **more)
    said = "Recorded" if made.done else "Would record"
    lines = [f"{said}: {more['task']} is {more['status']}"]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    session.answer(document, [*lines, "", *states.next_lines(answer)])


@command.command("baseline")
@click.argument("run", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be run; run nothing.")
@click.pass_obj
def baseline(session: Session, run: str | None, dry_run: bool) -> None:
    """Run the tests where nobody has changed anything yet, in a work tree that goes again."""
    desk = Desk(session, session.run(run), "task baseline")
    job = desk.look()
    test = baseline_run.command_of(job, "test_command")
    done = None if dry_run else _on_locked(desk, baseline_run.handle)
    after = desk.look().next
    document = {
        "schema": "qrspi/task-baseline/v1",
        "run": desk.run.name,
        "dry_run": dry_run,
        "command": test,
        "passed": None if done is None else baseline_run.passed(desk.workspace),
        "files": list(done.files) if done else [],
        "next": states.next_document(after),
    }
    lines = [f"Would run in a work tree of its own: {one_line(test)}"] if dry_run else []
    lines += [one_line(note) for note in (done.notes if done else ())]
    session.answer(document, [*lines, "", *states.next_lines(after)])
