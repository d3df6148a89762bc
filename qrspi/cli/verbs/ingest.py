"""`qrspi ingest`: findings that arrived in the wrong place."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli.app import Verb
from qrspi.cli.run_words import a_subject, run_and_step
from qrspi.cli.session import Session
from qrspi.cli.verbs.round import tell
from qrspi.core.derivation.derive import survey
from qrspi.core.findings.split_reply import REPLY_LIMIT
from qrspi.core.rounds import loop as loops
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import ingest
from qrspi.handlers.rounds.ingest import Source
from qrspi.render import round_parts as pages
from qrspi.world.runs.dry_run import Rehearsal
from qrspi.world.runs.workspace import Workspace

USAGE = "qrspi ingest FILE --tag TAG [RUN] [STEP]"


@click.command("ingest", cls=Verb)
@click.argument("file", type=click.File("rb"))
@click.argument("words", nargs=-1, metavar="[RUN] [STEP]")
@click.option("--tag", required=True, help="The reviewer, such as quality-claude.")
@click.option("--round", "number", type=click.IntRange(1), metavar="N", help="Not the newest.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session,
    file: BinaryIO,
    words: tuple[str, ...],
    tag: str,
    number: int | None,
    dry_run: bool,
) -> None:
    """Take in findings from a chat or from one file that holds many.

    Each becomes a file of its own in the round, and the text as it came is kept beside it.
    FILE is - for standard input. Without STEP the run's current step is meant.
    """
    run, step = run_and_step(words, USAGE)
    found = session.run_for(run, step)
    workspace = Rehearsal(found.path) if dry_run else Workspace(found.path)
    subject = a_subject(step or survey(workspace).state.next.step, USAGE)
    number = number or loops.newest(workspace, subject)
    source = Source(subject, number, tag, file.read(REPLY_LIMIT + 1))
    options = Options("cli", lock_timeout=session.lock_timeout, dry_run=dry_run)
    taken = ingest.ingest(workspace, source, options)
    tell(session, taken.done)
    lines = pages.taken_lines(source, taken, dry_run)
    session.answer(pages.taken("ingest", found.name, source, taken), lines)
