"""The engine with its agents: advance, send the awaited agents, until a person is needed."""

from __future__ import annotations

from qrspi import engine
from qrspi.core.model import Next, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shortened import listed
from qrspi.engine import Outcome
from qrspi.handlers.agents.fan_out import Dispatcher, FanOut
from qrspi.handlers.jobs.carry_out import remembering
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.world.runs.workspace import Workspace


class Driven(NamedTuple):
    outcome: Outcome
    failures: tuple[Problem, ...] = ()
    stopped: Problem | None = None  # a budget that was reached
    held: tuple[str, ...] = ()  # agents that the host sends


def drive(workspace: Workspace, options: Options, dispatcher: Dispatcher, path: str = "") -> Driven:
    performed: list[Performed] = []
    before: Next | None = None
    while True:
        with remembering(performed):
            outcome = engine.advance(workspace, options._replace(sends=True), path)
        performed += outcome.performed
        if outcome.state.next == before:
            whole = outcome._replace(performed=tuple(performed))
            vain = _in_vain(outcome.state.run, before)
            dispatcher.listener.note(f"failed: {vain.message}")
            return Driven(whole, (vain,))
        before = outcome.state.next
        with remembering(performed):
            sent = dispatcher.fan_out() or _quality(dispatcher, workspace, options, outcome)
        if sent is None:
            return Driven(outcome._replace(performed=tuple(performed)))
        performed += [sent.performed] if sent.used else []
        if not sent.goes_on:
            with remembering(performed):
                after = engine.advance(workspace, options, path)
            whole = after._replace(performed=(*performed, *after.performed))
            return Driven(whole, sent.failures, sent.stopped, sent.held)


def _in_vain(run: str, asked: Next) -> Problem:
    """Whoever is sent for ever is paid for ever."""
    who = listed([ask.label for ask in asked.asks]) or "an agent"
    text = f"{who} answered, and the run waits for the very same: correct by hand what is named"
    return Problem("reply-malformed", text, hint=f"qrspi status {run}")


def _quality(
    dispatcher: Dispatcher, workspace: Workspace, options: Options, outcome: Outcome
) -> FanOut | None:
    """At the quality gate, have the texts reviewed that nobody has judged."""
    following = outcome.state.next
    if following.kind != "quality" or not following.asks:
        return None
    from qrspi.handlers.agents import quality_reviews

    return quality_reviews.fan_out(dispatcher, workspace, options)
