"""`qrspi submit`: what an agent answered to somebody else, handed to the engine."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import VerbGroup
from qrspi.cli.run_words import Place
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.handlers.agents import handed_in
from qrspi.handlers.agents.handed_in import LIMIT, HandedIn
from qrspi.render import run_page
from qrspi.render.terminal import one_line


@click.group("submit", cls=VerbGroup)
def command() -> None:
    """Hand in what an agent answered to you: the text of a step, or the score of a finding.

    It is judged as if the engine had asked; what is malformed is refused, and nothing is written.
    Findings of reviewers are handed in with `qrspi ingest`.
    """


@command.action("artifact")
@arguments.file
@arguments.words("[RUN] STEP")
@click.option("--name", default="", help="Whose text, where several are waited for: q01-codebase.")
@arguments.dry_run("what would be written")
def artifact(
    session: Session, file: BinaryIO, words: tuple[str, ...], name: str, dry_run: bool
) -> None:
    """The text that a run waits for from an author, a fixer or a researcher.

    FILE is - for standard input. Whatever status it has, it becomes a draft.
    """
    at = run_words.place(session, words, "qrspi submit artifact FILE [RUN] STEP", dry_run)
    options, data = session.options(dry_run), file.read(LIMIT + 1)
    outcome = handed_in.artifact(at.workspace, at.step, name, data, options)
    head = f"{outcome.step}: the text of {outcome.name}"
    _answer(session, at, "artifact", head, outcome, dry_run, name=outcome.name)


@command.action("score")
@arguments.file
@arguments.words("[RUN] STEP")
@click.option("--finding", required=True, help="Which one, such as quality-claude.R1-F01.")
@arguments.round_number(None, required=True)
@arguments.dry_run("what would be written")
def score(
    session: Session,
    file: BinaryIO,
    words: tuple[str, ...],
    finding: str,
    number: int,
    dry_run: bool,
) -> None:
    """A verifier's score of one finding: YAML with score and reason.

    FILE is - for standard input.
    """
    at = run_words.place(session, words, "qrspi submit score FILE [RUN] STEP --round N", dry_run)
    options, data = session.options(dry_run), file.read(LIMIT + 1)
    outcome = handed_in.score(at.workspace, at.subject, number, finding, data, options)
    head = f"{outcome.step}: the score of {finding}"
    _answer(session, at, "score", head, outcome, dry_run, finding=finding)


def _answer(
    session: Session, at: Place, what: str, head: str, done: HandedIn, dry_run: bool, **about: Any
) -> None:
    session.note(*done.notes)
    after = derive(at.workspace).next
    document = {
        "schema": f"qrspi/submit-{what}/v1",
        "run": at.run,
        "step": done.step,
        "round": done.round or None,
        **about,
        "files": list(done.files),
        "notes": list(done.notes),
        "dry_run": dry_run,
        "next": run_page.next_document(after),
    }
    verb = "would write" if dry_run else "wrote"
    files = [f"  {verb} {one_line(path)}" for path in done.files]
    taken = f"{one_line(head)} {'would be' if dry_run else 'is'} taken in."
    session.answer(document, [taken, *files, "", *run_page.next_lines(after)])
