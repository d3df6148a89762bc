"""`qrspi round`: the parts of a review round, one command each, for scripts and hosts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.answers import round_assemble
from qrspi.cli.app import VerbGroup
from qrspi.cli.session import Session
from qrspi.handlers.rounds import round_commands, round_results
from qrspi.render import rounds

Words = tuple[str, ...]


@click.group("round", cls=VerbGroup)
def command() -> None:
    """The parts of a review round, one by one; `qrspi next` does them in order.

    STEP is a step, implement-gate or task-NN. RUN may stand before or after the action word.
    """


def _round(body: Callable[..., Any]) -> Callable[..., Any]:
    number = arguments.round_number("This round, not the newest.")
    return arguments.words("[RUN] STEP")(number(body))


@command.action("prepare")
@_round
@arguments.dry_run()
@click.option("--anyway", is_flag=True, help="Also a text that the last round reviewed.")
@click.option("--adopt", is_flag=True, help="Take up the newest round, which qrspi did not open.")
def prepare(
    session: Session, words: Words, number: int | None, dry_run: bool, anyway: bool, adopt: bool
) -> None:
    """Open the next round: choose the ref, write the diff, name who is expected."""
    at = run_words.place(session, words, "qrspi round prepare [RUN] STEP", dry_run)
    options = session.options(dry_run, anyway=anyway)
    act = round_commands.adopt_round if adopt else round_commands.open_round
    opened = act(at.workspace, at.subject, number, options)
    session.note(*opened.done.notes)
    session.answer(rounds.opened(at.run, opened), rounds.opened_lines(opened, dry_run, adopt))


@command.action("check")
@_round
def check(session: Session, words: Words, number: int | None) -> None:
    """Everything that keeps a round from being assembled. Writes nothing; 3 when there is any."""
    at = run_words.place(session, words, "qrspi round check [RUN] STEP")
    checked = round_results.check(at.workspace, at.subject, number)
    session.answer(rounds.checked(at.run, at.step, checked), rounds.checked_lines(at.step, checked))
    if checked.violations:
        raise click.exceptions.Exit(3)


@command.action("assemble")
@_round
@arguments.dry_run()
def assemble(session: Session, words: Words, number: int | None, dry_run: bool) -> None:
    """Keep or drop each finding by its score, and write the verified file."""
    round_assemble.show(session, words, number, dry_run)


@command.action("scope")
@_round
@arguments.dry_run()
def scope(session: Session, words: Words, number: int | None, dry_run: bool) -> None:
    """Write which parts of the text the kept findings are about."""
    at = run_words.place(session, words, "qrspi round scope [RUN] STEP", dry_run)
    scoped = round_results.scope(at.workspace, at.subject, number, session.options(dry_run))
    session.note(*scoped.done.notes)
    lines = rounds.scoped_lines(at.step, scoped, dry_run)
    session.answer(rounds.scoped(at.run, at.step, scoped), lines)


@command.action("converge")
@_round
def converge(session: Session, words: Words, number: int | None) -> None:
    """What the round after this one would be compared with. Asking changes nothing."""
    at = run_words.place(session, words, "qrspi round converge [RUN] STEP")
    found = round_commands.converge(at.workspace, at.subject, number)
    session.answer(rounds.converged(at.run, at.step, found), rounds.converged_lines(at.step, found))


@command.action("commit")
@_round
@arguments.dry_run()
@click.option("--adopt", is_flag=True, help="Take HEAD, which you committed, as its commit.")
def commit(session: Session, words: Words, number: int | None, dry_run: bool, adopt: bool) -> None:
    """Put a finished round on record: one commit of its files, and the anchor that names it."""
    at = run_words.place(session, words, "qrspi round commit [RUN] STEP", dry_run)
    options = session.options(dry_run)
    recorded = round_commands.commit(at.workspace, at.subject, number, options, adopt)
    session.note(*recorded.done.notes)
    lines = rounds.recorded_lines(at.step, recorded, dry_run)
    session.answer(rounds.recorded(at.run, at.step, recorded), lines)
