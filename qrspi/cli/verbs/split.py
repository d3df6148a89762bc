"""`qrspi split`: what a reviewer printed, as the files it could not write itself."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.findings.printed_reply import REPLY_LIMIT
from qrspi.handlers.rounds import printed_reply
from qrspi.handlers.rounds.printed_reply import Source
from qrspi.render import rounds

USAGE = "qrspi split FILE --tag TAG [RUN] STEP --round N"


@verb("split")
@arguments.file
@arguments.words("[RUN] STEP")
@click.option("--tag", required=True, help="The reviewer, such as quality-claude.")
@arguments.round_number(None, required=True)
@arguments.dry_run()
def command(
    session: Session, file: BinaryIO, words: tuple[str, ...], tag: str, number: int, dry_run: bool
) -> None:
    """Split a captured reply into one file a finding, or a clean sentinel.

    FILE is - for standard input.
    """
    at = run_words.place(session, words, USAGE, dry_run)
    source = Source(at.subject, number, tag, file.read(REPLY_LIMIT + 1), arguments.name_of(file))
    taken = printed_reply.split(at.workspace, source, session.options(dry_run))
    session.note(*taken.done.notes)
    lines = rounds.taken_lines(source, taken, dry_run)
    session.answer(rounds.taken("split", at.run, source, taken), lines)
