"""`qrspi reject`: say no to the text that waits, with the reason."""

from __future__ import annotations

import os
from typing import BinaryIO

import click

from qrspi.cli import run_words as words
from qrspi.cli.app import Verb
from qrspi.cli.decision_command import Desk, Made, a_step
from qrspi.cli.session import Session
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.records import feedback
from qrspi.handlers.decisions import reject
from qrspi.handlers.jobs.job import Job
from qrspi.render import decisions as rendered
from qrspi.render import run_page as states

USAGE = "qrspi reject [RUN] [STEP] -m TEXT"


@click.command("reject", cls=Verb)
@click.argument("run_and_step", nargs=-1, metavar="[RUN] [STEP]")
@click.option("-m", "--message", metavar="TEXT", help="What is wrong with it.")
@click.option("-F", "--file", type=click.File("rb"), help="The same from a file, or - for stdin.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says no; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session,
    run_and_step: tuple[str, ...],
    message: str | None,
    file: BinaryIO | None,
    who: str,
    dry_run: bool,
) -> None:
    """Say no to a step, the current one unless STEP is given: the author gets your words."""
    run, word = words.run_and_step(run_and_step, USAGE)
    said = _words(message, file)
    desk = Desk(session, session.run_for(run, a_step(word, USAGE)), "reject")
    step = word or _current(desk.look())
    made = desk.decide(lambda job: reject.plan(job, step, said, who), dry_run=dry_run)
    path = made.move.concerns[0]
    document = rendered.document(
        "reject",
        desk.run.name,
        made.move,
        made.done,
        made.state.next,
        artifact=STEP[step].artifact,
        feedback=path,
    )
    session.answer(document, _lines(desk, made, step, path))


def _words(message: str | None, file: BinaryIO | None) -> bytes:
    """As bytes: what was typed or written is kept as it is, whatever its encoding."""
    if (message is None) == (file is None):
        text = "say what is wrong with it, with either -m or -F"
        raise Misuse(Problem("usage", text, field="-m", hint=USAGE))
    return os.fsencode(message) if message is not None else _read(file)


def _read(file: BinaryIO | None) -> bytes:
    assert file is not None
    return file.read(feedback.LIMIT + 1)


def _current(job: Job) -> str:
    if job.facts.step:
        return job.facts.step
    text = f"{job.run} is complete: there is nothing left to reject"
    raise Refusal(Problem("nothing-to-reject", text, hint=f"qrspi status {job.run}"))


def _lines(desk: Desk, made: Made, step: str, path: str) -> list[str]:
    verb = "Rejected" if made.done else "Would reject"
    lines = [f"{verb} {STEP[step].artifact}; the author gets {path}."]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    return [*lines, "", *states.next_lines(made.state.next)]
