"""`qrspi next`: do every mechanical thing that can be done now, then say what is needed."""

from __future__ import annotations

import click

from qrspi.cli import arguments, dispatch_command
from qrspi.cli.answers import next as next_answer
from qrspi.cli.answers.next import LOOPS, Request
from qrspi.cli.app import verb
from qrspi.cli.dispatch_command import SendOptions
from qrspi.cli.session import Session
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options
from qrspi.render import outcomes
from qrspi.world.runs.workspace import Workspace


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
    asked: SendOptions,
) -> None:
    """Do every mechanical thing that can be done now, then say exactly what is needed from whom."""
    named = session.run(run, "next").name  # once: of several, a person picks one
    request = Request(
        run=named,
        dry_run=dry_run,
        no_commit=no_commit,
        present=present,
        anyway=anyway,
        exit_code=exit_code,
        by=by or "",
    )
    if onto:
        _name_branch(session, request, onto)
    if dispatch:
        status = _dispatched(session, request, asked)
    else:
        dispatch_command.refuse_without_dispatch(asked)
        status = next_answer.advance(session, request)
    if status:
        raise click.exceptions.Exit(status)


def _name_branch(session: Session, request: Request, name: str) -> None:
    if request.dry_run:
        raise click.UsageError("--onto is put on record at once: leave out --dry-run")
    from qrspi.handlers.runs import start_run

    workspace, _ = next_answer.place(session, session.run(request.run, "next"))
    if start_run.merge_onto(workspace, next_answer.options_of(session, request), name):
        session.note(f"config.md: feature_branch is {name}")


def _dispatched(session: Session, request: Request, asked: SendOptions) -> int:
    workspace, path = next_answer.place(session, session.run(request.run, "next"))
    if request.dry_run:
        return next_answer.advance(
            session, request, lambda outcome: _would_send(session, workspace, outcome, asked)
        )
    options = next_answer.options_of(session, request)
    return next_answer.status(request, _driven(session, workspace, options, asked, path))


def _would_send(
    session: Session, workspace: Workspace, outcome: Outcome, asked: SendOptions
) -> list[str]:
    """Whom the run waits for. If something mechanical comes first, that cannot be known yet."""
    following = outcome.state.next
    if outcome.performed:
        return ["", f"would send: whom the run waits for then; `{following.command}` says whom."]
    from qrspi.handlers.agents import awaited_agents
    from qrspi.render import agents

    line = awaited_agents.line(workspace, asked.how(session.root.project))
    if not line:
        return ["", "would send: nobody, as the run does not wait for an agent."]
    return ["", "would send:", *agents.awaited_lines(outcome.state.run, line, session.width)]


def _driven(
    session: Session, workspace: Workspace, options: Options, asked: SendOptions, path: str
) -> Outcome:
    """Always says what was done. What went wrong is said last, and ends the command."""
    from qrspi.render import agents

    driven = dispatch_command.drive(session, workspace, options, asked, path)
    while options.ask and driven.outcome.state.next.kind in LOOPS:
        before, answered = driven.outcome, next_answer.ask(session, driven.outcome, options)
        driven = dispatch_command.drive(session, workspace, answered, asked, path)
        driven = driven._replace(outcome=next_answer.joined(before, driven.outcome))
    session.note(*next_answer.notes(driven.outcome))
    if not (session.json and driven.failures):
        ending = agents.ending_document(driven.stopped, driven.held)
        lines = outcomes.lines(driven.outcome) + agents.ending_lines(driven.stopped, driven.held)
        session.answer({**outcomes.document(driven.outcome), **ending}, lines)
    if driven.failures:
        outcome = driven.outcome
        raise dispatch_command.failed(
            session, driven.failures, outcome.performed, outcome.state.next
        )
    return driven.outcome
