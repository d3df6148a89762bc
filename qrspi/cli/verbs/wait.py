"""`qrspi wait`: block until somebody is needed, or until something changes."""

from __future__ import annotations

from typing import Any, get_args

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.derivation import waiting
from qrspi.core.derivation.waiting import Awaited
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, RunState
from qrspi.render import run_page
from qrspi.world.runs import heartbeat, machine_signs

TIME_OVER = 124  # as timeout(1) has it


@verb("wait")
@arguments.run
@click.option(
    "--for",
    "awaited",
    type=click.Choice(get_args(Awaited)),
    default="change",
    show_default=True,
    help="A person is needed, an agent is needed, or anything at all.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds; then exit 124."
)
def command(session: Session, run: str | None, awaited: Awaited, timeout: float | None) -> None:
    """Block until a person or an agent is needed, or until the run's state changes."""
    # Imported here: watchdog is for commands that stay.
    from qrspi.world.watch import watcher

    run_dir = session.run(run)
    before: RunState | None = None
    for state in watcher.states(run_dir, session.run_path(run_dir), timeout):
        now = machine_signs.told(state, run_dir.path)
        if waiting.in_vain(awaited, now):
            raise Refusal(_in_vain(now))
        if waiting.happened(awaited, before or now, now):
            _answer(session, awaited, before or now, now, True)
            return
        before = before or _begun(session, awaited, now)
    assert before
    _answer(session, awaited, before, now, False)
    raise click.exceptions.Exit(TIME_OVER)


_FOR = {"human": "a person is needed", "agent": "an agent is needed", "change": "it changes"}


def _begun(session: Session, awaited: Awaited, state: RunState) -> RunState:
    """The state that later ones are compared with: no change after it is missed."""
    if session.verbose or session.progress:
        session.note(f"waiting for {state.run} until {_FOR[awaited]}")
    if state.next.who == "engine" and heartbeat.daemon(session.root.runs_dir) is None:
        way = f"run `qrspi next {state.run}`, or have `qrspi watch` do it"
        session.note(f"nobody does what can be done now: {way}")
    return state


def _in_vain(state: RunState) -> Problem:
    why = "closed" if state.closed else "complete"
    text = f"run {state.run} is {why}: nobody will be needed"
    return Problem("nobody-needed", text, found=why, hint=f"qrspi status {state.run}")


def _answer(
    session: Session, awaited: Awaited, before: RunState, now: RunState, reached: bool
) -> None:
    document: dict[str, Any] = {
        "schema": "qrspi/wait/v1",
        "for": awaited,
        "happened": reached,
        "changed": list(waiting.changed(before, now)),
        **run_page.run_document(now),
    }
    late = [] if reached else ["Nothing happened in time."]
    session.answer(document, [*late, *run_page.next_lines(now.next)])
