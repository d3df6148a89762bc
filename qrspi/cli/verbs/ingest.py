"""`qrspi ingest`: findings that arrived in the wrong place."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.findings.printed_reply import REPLY_LIMIT
from qrspi.core.rounds import round_list
from qrspi.handlers.rounds import printed_reply
from qrspi.handlers.rounds.printed_reply import Source
from qrspi.render import rounds, run_page

USAGE = "qrspi ingest FILE --tag TAG [RUN] [STEP]"


@verb("ingest")
@arguments.file
@arguments.words("[RUN] [STEP]")
@click.option("--tag", required=True, help="The reviewer, such as quality-claude.")
@arguments.round_number()
@arguments.dry_run()
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
    at = run_words.current_place(session, words, USAGE, dry_run)
    number = number or round_list.newest(at.workspace, at.subject)
    source = Source(at.subject, number, tag, file.read(REPLY_LIMIT + 1), arguments.name_of(file))
    taken = printed_reply.ingest(at.workspace, source, session.options(dry_run))
    session.note(*taken.done.notes)
    after = derive(at.workspace).next
    document = rounds.taken("ingest", at.run, source, taken)
    lines = [*rounds.taken_lines(source, taken, dry_run), "", *run_page.next_lines(after)]
    session.answer({**document, "next": run_page.next_document(after)}, lines)
