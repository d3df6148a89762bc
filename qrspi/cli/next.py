"""`qrspi next`: do every mechanical thing that can be done now, then say what is needed."""

from __future__ import annotations

import click

from qrspi import engine
from qrspi.cli.app import Verb
from qrspi.cli.questions import choose
from qrspi.cli.session import Session
from qrspi.handlers.job import Options, Performed
from qrspi.render import states
from qrspi.render.escape import one_line
from qrspi.world.workspace import Workspace

EXIT_CODES = {"agent": 10, "human": 11}


@click.command("next", cls=Verb)
@click.argument("run", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.option("--no-commit", is_flag=True, help="Leave committing to you.")
@click.option("--present", is_flag=True, help="After round 1, go to the gate instead of looping.")
@click.option("--anyway", is_flag=True, help="Review a text again that the last round reviewed.")
@click.option("--exit-code", is_flag=True, help="Exit 10 when an agent must act, 11 for a person.")
@click.pass_obj
def command(
    session: Session,
    run: str | None,
    dry_run: bool,
    no_commit: bool,
    present: bool,
    anyway: bool,
    exit_code: bool,
) -> None:
    """Do every mechanical thing that can be done now, then say exactly what is needed from whom."""
    found = session.run(run)
    workspace, path = Workspace(found.path), session.run_path(found)
    ask = session.interactive and not (present or dry_run)
    options = Options(
        "cli", no_commit, present, anyway, session.lock_timeout, thorough=True, ask=ask
    )
    work = engine.rehearse if dry_run else engine.advance
    outcome = work(workspace, options, path)
    if ask and outcome.state.next.kind == "loop":
        outcome = _go_on(outcome, workspace, _ask(outcome, options), path)
    for note in (note for done in outcome.performed for note in done.notes):
        session.note(one_line(note))
    session.answer(document(outcome), _lines(outcome, dry_run))
    if exit_code:
        raise click.exceptions.Exit(EXIT_CODES.get(outcome.state.next.who, 0))


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


def document(outcome: engine.Outcome) -> dict[str, object]:
    return {
        "schema": "qrspi/next/v1",
        **states.run_document(outcome.state),
        "performed": [_performed(done) for done in outcome.performed],
    }


def _performed(done: Performed) -> dict[str, object]:
    return {
        "handler": done.handler,
        "step": done.step,
        "round": done.round or None,
        "files": list(done.files),
        "notes": list(done.notes),
    }


def _lines(outcome: engine.Outcome, dry_run: bool) -> list[str]:
    lines = []
    for done in outcome.performed:
        number = f" round {done.round}" if done.round else ""
        verb = "would do" if dry_run else "done"
        lines.append(f"{verb}: {done.handler} {done.step}{number}")
        lines += [f"  {one_line(name)}" for name in done.files]
    return [*lines, *states.notes(outcome.state), *states.next_lines(outcome.state.next)]
