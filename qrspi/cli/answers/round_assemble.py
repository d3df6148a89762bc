"""What `round assemble` does and says: each finding is kept or dropped by its score."""

from __future__ import annotations

from qrspi.cli import run_words
from qrspi.cli.session import Session
from qrspi.handlers.rounds import round_results
from qrspi.render import rounds


def show(
    session: Session, words: tuple[str, ...], number: int | None = None, dry_run: bool = False
) -> None:
    at = run_words.place(session, words, "qrspi round assemble [RUN] STEP", dry_run)
    assembled = round_results.assemble(at.workspace, at.subject, number, session.options(dry_run))
    session.note(*assembled.done.notes)
    lines = rounds.assembled_lines(at.step, assembled, dry_run)
    session.answer(rounds.assembled(at.run, at.step, assembled), lines)
