"""`qrspi next`: do every mechanical thing that can be done now, then say what is needed."""

from __future__ import annotations

import click

from qrspi import engine
from qrspi.cli import arguments, dispatch_command
from qrspi.cli.app import verb
from qrspi.cli.dispatch_command import Asked
from qrspi.cli.session import Session
from qrspi.handlers.jobs.job import Options, question
from qrspi.render import outcomes
from qrspi.world.runs.workspace import Workspace

EXIT_CODES = {"agent": 10, "human": 11}
LOOPS = ("loop", "loop-again")  # how a review loop goes on


@verb("next")
@arguments.run
@click.option("--dispatch", is_flag=True, help="Send agents too, until a person is needed.")
@arguments.dry_run()
@arguments.no_commit
@click.option("--present", is_flag=True, help="After round 1, go to the gate instead of looping.")
@click.option("--anyway", is_flag=True, help="Review a text again that the last round reviewed.")
@click.option("--onto", metavar="BRANCH", help="Merge tasks into this branch; kept in config.md.")
@click.option("--exit-code", is_flag=True, help="Exit 10 when an agent must act, 11 for a person.")
@click.option("--by", type=click.Choice(["cli", "watch"]), hidden=True)
@dispatch_command.options
def command(
    session: Session,
    run: str | None,
    dispatch: bool,
    dry_run: bool,
    no_commit: bool,
    present: bool,
    anyway: bool,
    onto: str | None,
    exit_code: bool,
    by: str | None,
    asked: Asked,
) -> None:
    """Do every mechanical thing that can be done now, then say exactly what is needed from whom."""
    found = session.run(run)
    workspace, path = Workspace(found.path), session.run_path(found)
    ask = session.interactive and not (present or dry_run)
    actor = by or session.surface
    options = Options(
        actor, no_commit, present, anyway, session.lock_timeout, thorough=True, ask=ask
    )
    if onto:
        _name_branch(workspace, options, onto, dry_run)
    if not dispatch:
        dispatch_command.refuse_without_dispatch(asked)
    if dispatch and not dry_run:
        outcome = _dispatched(session, workspace, options, asked, path)
    else:
        outcome = (engine.rehearse if dry_run else engine.advance)(workspace, options, path)
        if ask and outcome.state.next.kind in LOOPS:
            answered = _ask(session, outcome, options)
            outcome = _joined(outcome, engine.advance(workspace, answered, path))
        session.note(*_notes(outcome))
        sent = _would_send(session, workspace, outcome, asked) if dispatch else []
        session.answer(outcomes.document(outcome), [*outcomes.lines(outcome, dry_run), *sent])
    if exit_code:
        raise click.exceptions.Exit(EXIT_CODES.get(outcome.state.next.who, 0))


def _name_branch(workspace: Workspace, options: Options, name: str, dry_run: bool) -> None:
    if dry_run:
        raise click.UsageError("--onto is put on record at once: leave out --dry-run")
    from qrspi.handlers.runs import run_branch

    run_branch.merge_onto(workspace, options, name)


def _notes(outcome: engine.Outcome) -> list[str]:
    return [note for done in outcome.performed for note in done.notes]


def _would_send(
    session: Session, workspace: Workspace, outcome: engine.Outcome, asked: Asked
) -> list[str]:
    """Whom the run waits for. If something mechanical comes first, that cannot be known yet."""
    following = outcome.state.next
    if outcome.performed:
        return ["", f"would send: whom the run waits for then; `{following.command}` says whom."]
    if following.who != "agent":
        return ["", "would send: nobody, as the run does not wait for an agent."]
    from qrspi.handlers.agents import awaited_agents
    from qrspi.render import agents

    line = awaited_agents.line(workspace, asked.how)
    return ["", "would send:", *agents.awaited_lines(outcome.state.run, line, session.width)]


def _dispatched(
    session: Session, workspace: Workspace, options: Options, asked: Asked, path: str
) -> engine.Outcome:
    """Always says what was done. What went wrong is said last, and ends the command."""
    from qrspi.render import agents

    driven = dispatch_command.drive(session, workspace, options, asked, path)
    while options.ask and driven.outcome.state.next.kind in LOOPS:
        before, answered = driven.outcome, _ask(session, driven.outcome, options)
        driven = dispatch_command.drive(session, workspace, answered, asked, path)
        driven = driven._replace(outcome=_joined(before, driven.outcome))
    session.note(*_notes(driven.outcome))
    if not (session.json and driven.failures):
        ending = agents.ending_document(driven.stopped, driven.held)
        lines = outcomes.lines(driven.outcome) + agents.ending_lines(driven.stopped, driven.held)
        session.answer({**outcomes.document(driven.outcome), **ending}, lines)
    if driven.failures:
        raise dispatch_command.failed(session, driven.failures)
    return driven.outcome


def _ask(session: Session, outcome: engine.Outcome, options: Options) -> Options:
    """How a review loop goes on, asked of the person at the terminal."""
    menu = outcome.state.next.options
    labels = [option.label for option in menu]
    chosen = menu[session.choose(outcome.state.next.because[0], labels)]
    asked = question(outcome.state.next)
    return options._replace(asked=asked, present=chosen.key == "present")


def _joined(before: engine.Outcome, after: engine.Outcome) -> engine.Outcome:
    return after._replace(performed=before.performed + after.performed)
