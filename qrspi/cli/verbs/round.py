"""`qrspi round`: the parts of a review round, one command each, for scripts and hosts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.run_words import a_subject, run_and_step
from qrspi.cli.session import Session
from qrspi.core.pipeline import Subject
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.handlers.rounds import round_commands as plumbing
from qrspi.render import round_parts as pages
from qrspi.render.safe_text import one_line
from qrspi.world.runs.dry_run import Rehearsal
from qrspi.world.runs.workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("round", cls=VerbGroup)
def command() -> None:
    """The parts of a review round, one by one; `qrspi next` does them in order.

    STEP is a step, implement-gate or task-NN. RUN may stand before or behind the action word.
    """


def _about_a_round(function: Command) -> Command:
    number = click.option(
        "--round", "number", type=click.IntRange(1), metavar="N", help="Not the newest, but this."
    )
    return click.argument("words", nargs=-1, metavar="[RUN] STEP")(number(function))


def _changing(function: Command) -> Command:
    option = click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
    return _about_a_round(option(function))


class Place(NamedTuple):
    """The run and the subject that the words name."""

    run: str
    workspace: Workspace
    subject: Subject


def place(session: Session, words: tuple[str, ...], usage: str, dry_run: bool = False) -> Place:
    run, step = run_and_step(words, usage)
    subject = a_subject(step or run, usage)  # a lone word is a step, if only a mistyped one
    found = session.run_for(run, step)
    workspace = Rehearsal(found.path) if dry_run else Workspace(found.path)
    return Place(found.name, workspace, subject)


def _options(session: Session, dry_run: bool, anyway: bool = False) -> Options:
    return Options("cli", anyway=anyway, lock_timeout=session.lock_timeout, dry_run=dry_run)


def tell(session: Session, done: Performed) -> None:
    for note in done.notes:
        session.note(one_line(note))


@command.command("prepare")
@_changing
@click.option("--anyway", is_flag=True, help="Also a text that the last round reviewed.")
@click.pass_obj
def prepare(
    session: Session, words: tuple[str, ...], number: int | None, dry_run: bool, anyway: bool
) -> None:
    """Open the next round: choose the ref, write the diff, name who is expected."""
    at = place(session, words, "qrspi round prepare [RUN] STEP", dry_run)
    options = _options(session, dry_run, anyway)
    found = plumbing.open_round(at.workspace, at.subject, number, options)
    tell(session, found.done)
    session.answer(pages.opened(at.run, found), pages.opened_lines(found, dry_run))


@command.command("check")
@_about_a_round
@click.pass_obj
def check(session: Session, words: tuple[str, ...], number: int | None) -> None:
    """Everything that keeps a round from being assembled. Writes nothing; 3 when there is any."""
    at = place(session, words, "qrspi round check [RUN] STEP")
    found = plumbing.check(at.workspace, at.subject, number)
    step = at.subject.key
    session.answer(pages.checked(at.run, step, found), pages.checked_lines(step, found))
    if found.violations:
        raise click.exceptions.Exit(3)


@command.command("assemble")
@_changing
@click.pass_obj
def assemble(session: Session, words: tuple[str, ...], number: int | None, dry_run: bool) -> None:
    """Keep or drop each finding by its score, and write the verified file."""
    at = place(session, words, "qrspi round assemble [RUN] STEP", dry_run)
    found = plumbing.assemble(at.workspace, at.subject, number, _options(session, dry_run))
    tell(session, found.done)
    step = at.subject.key
    lines = pages.assembled_lines(step, found, dry_run)
    session.answer(pages.assembled(at.run, step, found), lines)


@command.command("scope")
@_changing
@click.pass_obj
def scope(session: Session, words: tuple[str, ...], number: int | None, dry_run: bool) -> None:
    """Write which parts of the text the kept findings are about."""
    at = place(session, words, "qrspi round scope [RUN] STEP", dry_run)
    found = plumbing.scope(at.workspace, at.subject, number, _options(session, dry_run))
    tell(session, found.done)
    step = at.subject.key
    session.answer(pages.scoped(at.run, step, found), pages.scoped_lines(step, found, dry_run))


@command.command("converge")
@_about_a_round
@click.pass_obj
def converge(session: Session, words: tuple[str, ...], number: int | None) -> None:
    """What the round after this one would be compared with. Asking changes nothing."""
    at = place(session, words, "qrspi round converge [RUN] STEP")
    found = plumbing.converge(at.workspace, at.subject, number)
    step = at.subject.key
    session.answer(pages.converged(at.run, step, found), pages.converged_lines(step, found))


@command.command("commit")
@_changing
@click.option("--adopt", is_flag=True, help="Take HEAD, which you committed, as its commit.")
@click.pass_obj
def commit(
    session: Session, words: tuple[str, ...], number: int | None, dry_run: bool, adopt: bool
) -> None:
    """Put a finished round on record: one commit of its files, and the anchor that names it."""
    at = place(session, words, "qrspi round commit [RUN] STEP", dry_run)
    options = _options(session, dry_run)
    found = plumbing.commit(at.workspace, at.subject, number, options, adopt)
    tell(session, found.done)
    step = at.subject.key
    session.answer(pages.recorded(at.run, step, found), pages.recorded_lines(step, found, dry_run))
