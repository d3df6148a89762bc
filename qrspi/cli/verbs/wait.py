"""`qrspi wait`: block until somebody is needed, or until something changes."""

from __future__ import annotations

from typing import Any, get_args

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.derivation import wait_conditions as waiting
from qrspi.core.derivation.wait_conditions import Awaited
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem, RunState
from qrspi.render import run_page as states
from qrspi.world.runs import heartbeat

TIME_OVER = 124  # as of timeout(1)


@click.command("wait", cls=Verb)
@click.argument("run", required=False)
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
@click.pass_obj
def command(session: Session, run: str | None, awaited: Awaited, timeout: float | None) -> None:
    """Block until a person or an agent is needed, or until the run stands otherwise than now."""
    # Imported here: watchdog is for commands that stay.
    from qrspi.world.watch import watched_run as vigil

    found = session.run(run)
    before: RunState | None = None
    for now in vigil.states(found, session.run_path(found), timeout):
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
    """From here on nothing is missed."""
    if session.verbose or session.progress:
        session.note(f"waiting for {state.run} until {_FOR[awaited]}")
    if state.next.who == "engine" and heartbeat.daemon(session.root.runs_dir) is None:
        session.note(
            f"nobody does what can be done now: run `qrspi next {state.run}`, or have "
            "`qrspi watch` do it"
        )
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
        **states.run_document(now),
    }
    late = [] if reached else ["Nothing happened in time."]
    session.answer(document, [*late, *states.next_lines(now.next)])
