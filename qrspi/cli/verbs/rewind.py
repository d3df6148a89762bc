"""`qrspi rewind`: go back to an earlier step."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.text.shell_words import command as command_line
from qrspi.core.text.shell_words import quoted
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job

USAGE = "qrspi rewind [RUN] --to STEP"


@verb("rewind")
@arguments.run
@click.option("--to", "target", required=True, metavar="STEP", help="The step to go back to.")
@click.option("-m", "--message", metavar="TEXT", help="Why; the step's author gets it.")
@arguments.message_file
@click.option("--yes", is_flag=True, help="Do not ask.")
@arguments.person()
@arguments.dry_run()
def command(
    session: Session,
    run: str | None,
    target: str,
    message: str | None,
    file: BinaryIO | None,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Return a step and every later one that was approved to draft; nothing is deleted."""
    silent = message is None and file is None
    words = None if silent else run_words.reason_of(message, file, f"{USAGE} -m TEXT")
    decision = DecisionCommand(session, "rewind", run)
    run_words.a_step(target, USAGE, decision.workspace)

    def plan(job: Job) -> ChangeSet:
        return rewind.plan(job, target, who, words=words)

    if not (yes or dry_run):
        again = command_line("qrspi", "rewind", decision.run.name, "--to", target)
        again += f" -m {quoted(message)}" if message else " -F FILE" if file else ""
        decision.confirm_rewind(plan(decision.look()), again)
    decision.answer_rewind(decision.decide(plan, dry_run=dry_run))
