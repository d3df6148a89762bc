"""`qrspi reject`: say no to the text that waits, with the reason."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.handlers.decisions import reject
from qrspi.handlers.jobs.job import Job

USAGE = "qrspi reject [RUN] [STEP] -m TEXT"


@verb("reject")
@arguments.words("[RUN] [STEP]")
@click.option("-m", "--message", metavar="TEXT", help="What is wrong with it.")
@arguments.message_file
@arguments.person("no")
@arguments.dry_run()
def command(
    session: Session,
    words: tuple[str, ...],
    message: str | None,
    file: BinaryIO | None,
    who: str,
    dry_run: bool,
) -> None:
    """Say no to a step, the current one unless STEP is given: the author gets your words."""
    run, word = run_words.run_and_step(words, USAGE)
    reason = run_words.reason_of(message, file, USAGE)
    decision = DecisionCommand(session, "reject", run, run_words.a_step(word, USAGE))
    with decision.deciding(dry_run=dry_run) as job:
        step = word or _current(job)
        made = decision.make(job, reject.plan(job, step, reason, who))
    artifact, path = STEP[step].artifact, made.change.concerns[0]
    verb = "Rejected" if made.done else "Would reject"
    head = f"{verb} {artifact}; the author gets {path}."
    decision.answer(made, head, artifact=artifact, feedback=path)


def _current(job: Job) -> str:
    if job.facts.step:
        return job.facts.step
    text = f"{job.run} is complete: there is nothing left to reject"
    raise Refusal(Problem("nothing-to-reject", text, hint=f"qrspi status {job.run}"))
