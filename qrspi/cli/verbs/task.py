"""`qrspi task`: the tasks of a phase, from their work trees to their end."""

from __future__ import annotations

import os
from typing import BinaryIO, get_args

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.answers import task_list
from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import DecisionCommand, MadeDecision
from qrspi.cli.session import Session
from qrspi.core.records.task_records import ReportStatus
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.handlers.tasks import clean as task_clean
from qrspi.handlers.tasks import commands, reports
from qrspi.handlers.tasks import start as task_start
from qrspi.handlers.tasks.clean import Left
from qrspi.render import run_page
from qrspi.render import task_table as pages
from qrspi.render.terminal import one_line
from qrspi.world.runs import project_root

REPORT_LIMIT = 1024 * 1024


@click.group("task", cls=VerbGroup)
def command() -> None:
    """The tasks of a phase: list and start them, report, accept, skip or retry one, take the
    baseline, and clean up when the run has ended.

    A task is named task-03 or 03, a repair by its folder and file, ci-round-01/ci-command. RUN
    may stand before or after the action word.
    """


@command.action("list")
@arguments.run
def list_(session: Session, run: str | None) -> None:
    """Every task of the phase by wave, and every repair: where it stands and what it waits for."""
    task_list.show(session, run)


@command.action("start")
@arguments.words("[RUN] [TASK…]")
@click.option("--anyway", is_flag=True, help="Also a task whose text has no PASS; recorded.")
@arguments.dry_run("what would be made")
def start(session: Session, words: tuple[str, ...], anyway: bool, dry_run: bool) -> None:
    """Give tasks a branch and a work tree; without TASK, all that can start now.

    What a killed command left is used or repaired; what is somebody else's is refused.
    """
    run, keys = run_words.run_and_tasks(words, "qrspi task start [RUN] [TASK…]")
    decision = DecisionCommand(session, "task start", run)
    if dry_run:
        job = decision.look()
        wanted = keys or task_start.ready(job, anyway=anyway)
        begun = [task_start.rehearse(job, key) for key in wanted]
        task_start.ask_quality(job, wanted, anyway=anyway)
    else:
        begun = []

        def begin(job: Job) -> Performed:
            wanted = keys or task_start.ready(job, anyway=anyway)
            started, performed = task_start.begin(job, wanted, anyway=anyway)
            begun.extend(started)
            return performed

        decision.carry_out(begin)
        session.note(*(note for one in begun for note in one.notes))
    after = decision.look().next
    document = {
        "schema": "qrspi/task-start/v1",
        "run": decision.run.name,
        "dry_run": dry_run,
        "tasks": [pages.started(one) for one in begun],
        "next": run_page.next_document(after),
    }
    lines = [one_line(pages.started_line(one, dry_run=dry_run)) for one in begun]
    lines = lines or ["No task can start now."]
    session.answer(document, [*lines, "", *run_page.next_lines(after)])


@command.action("report")
@arguments.words("[RUN] TASK")
@click.option(
    "--status", required=True, type=click.Choice(get_args(ReportStatus), case_sensitive=False)
)
@click.option("--commit", metavar="SHA", help="What was made; needed unless BLOCKED.")
@click.option("--tests", is_flag=True, help="Of the tests that are written before the code.")
@click.option("-m", "--message", default="", metavar="TEXT", help="What is to be said about it.")
@arguments.message_file
@arguments.dry_run("what would be written")
def report(
    session: Session,
    words: tuple[str, ...],
    status: ReportStatus,
    commit: str | None,
    tests: bool,
    message: str,
    file: BinaryIO | None,
    dry_run: bool,
) -> None:
    """An implementer's word about its task. Reviewers are sent unless it is BLOCKED."""
    usage = "qrspi task report [RUN] TASK --status STATUS --commit SHA"
    run, key = run_words.run_and_task(words, usage)
    text = file.read(REPORT_LIMIT).decode("utf-8", "replace") if file else message
    decision = DecisionCommand(session, "task report", run)
    report_on = reports.report_tests if tests else reports.report
    made = decision.decide(lambda job: report_on(job, key, status, commit, text), dry_run=dry_run)
    _answer(decision, made, key, status, tests=tests)


@command.action("accept")
@arguments.words("[RUN] TASK")
@click.option("--imported", is_flag=True, help="Instead of TASK: all that were done elsewhere.")
@click.option("-m", "--reason", required=True, metavar="TEXT", help="Why it is good enough.")
@arguments.person()
@arguments.dry_run("what would be written")
def accept(
    session: Session, words: tuple[str, ...], imported: bool, reason: str, who: str, dry_run: bool
) -> None:
    """Take a task as it is, with its open issues."""
    if imported:
        _accept_imported(session, words, reason, who, dry_run)
        return
    run, key = run_words.run_and_task(words, "qrspi task accept [RUN] TASK --reason TEXT")
    decision = DecisionCommand(session, "task accept", run)
    status = reports.accepted_as(decision.look(), key)
    made = decision.decide(lambda job: reports.accept(job, key, reason, who), dry_run=dry_run)
    _answer(decision, made, key, status)


def _accept_imported(
    session: Session, words: tuple[str, ...], reason: str, who: str, dry_run: bool
) -> None:
    if len(words) > 1:
        usage = "qrspi task accept [RUN] --imported --reason TEXT"
        raise run_words.misuse("--imported stands in place of TASK", field="TASK", hint=usage)
    decision = DecisionCommand(session, "task accept", words[0] if words else None)
    made = decision.decide(lambda job: reports.accept_imported(job, reason, who), dry_run=dry_run)
    verb, keys = "Recorded" if made.done else "Would record", ", ".join(made.change.concerns)
    status = "accepted-with-issues"
    decision.answer(made, f"{verb}: {keys} done elsewhere, {status}", task=keys, status=status)


@command.action("skip")
@arguments.words("[RUN] TASK")
@click.option("-m", "--reason", required=True, metavar="TEXT", help="Why it is left out.")
@arguments.person()
@arguments.dry_run("what would be written")
def skip(session: Session, words: tuple[str, ...], reason: str, who: str, dry_run: bool) -> None:
    """Leave a task out. It is not merged."""
    run, key = run_words.run_and_task(words, "qrspi task skip [RUN] TASK --reason TEXT")
    decision = DecisionCommand(session, "task skip", run)
    made = decision.decide(lambda job: reports.skip(job, key, reason, who), dry_run=dry_run)
    _answer(decision, made, key, "skipped-by-user")


@command.action("retry")
@arguments.words("[RUN] TASK")
@click.option("-m", "--message", default="", metavar="TEXT", help="What has changed since.")
@arguments.person()
@arguments.dry_run("what would be written")
def retry(session: Session, words: tuple[str, ...], message: str, who: str, dry_run: bool) -> None:
    """Have the agent of a blocked task sent again, told why it was blocked and what you say."""
    run, key = run_words.run_and_task(words, "qrspi task retry [RUN] TASK")
    decision = DecisionCommand(session, "task retry", run)
    made = decision.decide(lambda job: reports.retry(job, key, message, who), dry_run=dry_run)
    _answer(decision, made, key, "sent-again")


def _answer(
    decision: DecisionCommand, made: MadeDecision, key: str, status: str, *, tests: bool = False
) -> None:
    verb = "Recorded" if made.done else "Would record"
    what = f"the tests of {key} are" if tests else f"{key} is"
    decision.answer(made, f"{verb}: {what} {status}", task=key, status=status)


@command.action("baseline")
@arguments.run
@arguments.dry_run("what would be run", "run nothing")
def baseline(session: Session, run: str | None, dry_run: bool) -> None:
    """Run the tests where nobody has changed anything yet, in a work tree that is then removed."""
    decision = DecisionCommand(session, "task baseline", run)
    job = decision.look()
    test = commands.named(job, "test_command")
    performed = None if dry_run else decision.carry_out(commands.take_baseline)
    state = commands.baseline_state(decision.workspace) if performed else None
    after = decision.look().next
    document = {
        "schema": "qrspi/task-baseline/v1",
        "run": decision.run.name,
        "dry_run": dry_run,
        "command": test,
        "passed": None if state in (None, "not-run") else state == "passed",
        "state": state,
        "files": list(performed.files) if performed else [],
        "next": run_page.next_document(after),
    }
    lines = [f"Would run in a work tree of its own: {one_line(test)}"] if dry_run else []
    lines += [one_line(note) for note in (performed.notes if performed else ())]
    session.answer(document, [*lines, "", *run_page.next_lines(after)])


@command.action("clean")
@arguments.run
@arguments.dry_run("what would be removed")
def clean(session: Session, run: str | None, dry_run: bool) -> None:
    """Remove work trees and branches of a run that has ended, as far as they are merged.

    What has changes that are not committed stays, and so does the work tree you stand in.
    """
    decision = DecisionCommand(session, "task clean", run)
    here = os.path.realpath(project_root.current_directory() or "/")
    left: tuple[Left, ...] = ()
    if dry_run:
        left = task_clean.survey(decision.look(), here)
    else:

        def carry_out(job: Job) -> Performed:
            nonlocal left
            left, performed = task_clean.carry_out(job, here)
            return performed

        decision.carry_out(carry_out)
    after = decision.look().next
    document = {
        "schema": "qrspi/task-clean/v1",
        "run": decision.run.name,
        "dry_run": dry_run,
        "removed": [pages.left(one) for one in left if not one.keep],
        "kept": [pages.left(one) for one in left if one.keep],
        "next": run_page.next_document(after),
    }
    lines = [one_line(pages.left_line(one, dry_run=dry_run)) for one in left]
    session.answer(document, lines or ["No work tree or branch of a task is left."])
