"""`qrspi next`: do every mechanical thing that can be done now, then say what is needed."""

from __future__ import annotations

import click

from qrspi import engine
from qrspi.cli import dispatch_command as sending
from qrspi.cli.app import Verb
from qrspi.cli.ask_person import choose
from qrspi.cli.dispatch_command import Asked
from qrspi.cli.session import Session
from qrspi.handlers.jobs.job import Options
from qrspi.render import outcomes
from qrspi.render.safe_text import one_line
from qrspi.world.runs.workspace import Workspace

EXIT_CODES = {"agent": 10, "human": 11}


@click.command("next", cls=Verb)
@click.argument("run", required=False)
@click.option("--dispatch", is_flag=True, help="Send agents too, until a person is needed.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.option("--no-commit", is_flag=True, help="Leave committing to you.")
@click.option("--present", is_flag=True, help="After round 1, go to the gate instead of looping.")
@click.option("--anyway", is_flag=True, help="Review a text again that the last round reviewed.")
@click.option("--exit-code", is_flag=True, help="Exit 10 when an agent must act, 11 for a person.")
@click.option("--by", type=click.Choice(["cli", "watch"]), default="cli", hidden=True)
@sending.options
@click.pass_obj
def command(
    session: Session,
    run: str | None,
    dispatch: bool,
    dry_run: bool,
    no_commit: bool,
    present: bool,
    anyway: bool,
    exit_code: bool,
    by: str,
    asked: Asked,
) -> None:
    """Do every mechanical thing that can be done now, then say exactly what is needed from whom."""
    found = session.run(run)
    workspace, path = Workspace(found.path), session.run_path(found)
    ask = session.interactive and not (present or dry_run)
    options = Options(by, no_commit, present, anyway, session.lock_timeout, thorough=True, ask=ask)
    if not dispatch:
        sending.refuse_without_dispatch(asked)
    if dispatch and not dry_run:
        outcome = _dispatched(session, workspace, options, asked, path)
    else:
        outcome = (engine.rehearse if dry_run else engine.advance)(workspace, options, path)
        if ask and outcome.state.next.kind == "loop":
            outcome = _go_on(outcome, workspace, _ask(outcome, options), path)
        _say_notes(session, outcome)
        sent = _would_send(session, workspace, outcome, asked) if dispatch else []
        session.answer(outcomes.document(outcome), [*outcomes.lines(outcome, dry_run), *sent])
    if exit_code:
        raise click.exceptions.Exit(EXIT_CODES.get(outcome.state.next.who, 0))


def _say_notes(session: Session, outcome: engine.Outcome) -> None:
    for note in (note for done in outcome.performed for note in done.notes):
        session.note(one_line(note))


def _would_send(
    session: Session, workspace: Workspace, outcome: engine.Outcome, asked: Asked
) -> list[str]:
    """Whom a rehearsal finds waiting; after anything mechanical that cannot be foreseen."""
    from qrspi.handlers.agents import awaited_agents as waiting
    from qrspi.render import dispatches

    if outcome.performed or outcome.state.next.who != "agent":
        return []
    line = waiting.line(workspace, asked.sending().how)
    return ["", "would send:", *dispatches.lines(line, session.width)]


def _dispatched(
    session: Session, workspace: Workspace, options: Options, asked: Asked, path: str
) -> engine.Outcome:
    """What was done is said in any case; then what went wrong, which ends the command."""
    from qrspi.render import dispatches

    driven = sending.drive(session, workspace, options, asked, path)
    if options.ask and driven.outcome.state.next.kind == "loop":
        before = driven.outcome.performed
        answered = _ask(driven.outcome, options)
        driven = sending.drive(session, workspace, answered, asked, path)
        whole = driven.outcome._replace(performed=before + driven.outcome.performed)
        driven = driven._replace(outcome=whole)
    _say_notes(session, driven.outcome)
    if not (session.json and driven.failures):
        ending = dispatches.ending(driven.stopped, driven.held)
        lines = outcomes.lines(driven.outcome, False)
        lines = [*lines, *dispatches.ending_lines(driven.stopped, driven.held)]
        session.answer({**outcomes.document(driven.outcome), **ending}, lines)
    if driven.failures:
        raise sending.failed(session, driven.failures)
    return driven.outcome


def _ask(outcome: engine.Outcome, options: Options) -> Options:
    """The question after a first round, to the person at the terminal."""
    menu = outcome.state.next.options
    chosen = menu[choose(outcome.state.next.because[0], [option.label for option in menu])]
    return options._replace(ask=False, asked=True, present=chosen.key == "present")


def _go_on(
    before: engine.Outcome, workspace: Workspace, options: Options, path: str
) -> engine.Outcome:
    after = engine.advance(workspace, options, path)
    return after._replace(performed=before.performed + after.performed)
