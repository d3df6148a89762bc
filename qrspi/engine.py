"""The engine: read → derive → handle → audit, until the run waits for somebody."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from qrspi.core.derive import Survey, survey
from qrspi.core.model import Next, RunState
from qrspi.handlers import audit
from qrspi.handlers.job import Job, Options, Performed
from qrspi.world.workspace import Workspace

Handler = Callable[[Job], Performed]


class Outcome(NamedTuple):
    performed: tuple[Performed, ...]
    state: RunState


def handler_for(answer: Next, options: Options) -> Handler | None:
    """The table of what the engine does by itself; None means that the run waits."""
    from qrspi import handlers

    return handlers.find(answer, options)


def tick(workspace: Workspace, options: Options, path: str = "") -> tuple[Performed | None, Survey]:
    """One mechanical step on a locked run, if there is one to do."""
    found = survey(workspace, path)
    handler = handler_for(found.state.next, options) if found.facts else None
    if handler is None or found.facts is None:
        return None, found
    workspace.changes.clear()
    done = handler(Job(workspace, found.facts, found.loop, found.state.next, options))
    audit.record(workspace, options.actor, done)
    return done, found


def advance(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """Everything mechanical that can be done now."""
    performed: list[Performed] = []
    with workspace.locked(options.lock_timeout):
        while True:
            done, found = tick(workspace, options, path)
            if done is None:
                return Outcome(tuple(performed), found.state)
            _must_move(performed, done)
            performed.append(done)


def rehearse(workspace: Workspace, options: Options, path: str = "") -> Outcome:
    """What `advance` would do first. Later steps depend on what the first one writes."""
    found = survey(workspace, path)
    answer = found.state.next
    if found.facts is None or handler_for(answer, options) is None:
        return Outcome((), found.state)
    return Outcome((Performed(answer.action, answer.step, answer.round),), found.state)


def _must_move(performed: list[Performed], done: Performed) -> None:
    """Doing the derived action never derives it again; if it does, stop instead of looping."""
    if performed and performed[-1][:3] == done[:3]:
        raise RuntimeError(f"{done.handler} of {done.step} round {done.round} changed nothing")
