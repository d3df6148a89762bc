"""`qrspi split`: what a reviewer printed, as the files it could not write itself."""

from __future__ import annotations

from typing import BinaryIO

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.cli.verbs.round import place, tell
from qrspi.core.findings.split_reply import REPLY_LIMIT
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import ingest
from qrspi.handlers.rounds.ingest import Source
from qrspi.render import round_parts as pages

USAGE = "qrspi split FILE --tag TAG [RUN] STEP --round N"


@click.command("split", cls=Verb)
@click.argument("file", type=click.File("rb"))
@click.argument("words", nargs=-1, metavar="[RUN] STEP")
@click.option("--tag", required=True, help="The reviewer, such as quality-claude.")
@click.option("--round", "number", type=click.IntRange(1), required=True, metavar="N")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session, file: BinaryIO, words: tuple[str, ...], tag: str, number: int, dry_run: bool
) -> None:
    """Split a captured reply into one file a finding, or a clean sentinel.

    FILE is - for standard input.
    """
    at = place(session, words, USAGE, dry_run)
    source = Source(at.subject, number, tag, file.read(REPLY_LIMIT + 1))
    options = Options("cli", lock_timeout=session.lock_timeout, dry_run=dry_run)
    found = ingest.split(at.workspace, source, options)
    tell(session, found.done)
    lines = pages.taken_lines(source, found, dry_run)
    session.answer(pages.taken("split", at.run, source, found), lines)
