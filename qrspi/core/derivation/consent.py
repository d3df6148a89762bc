"""What the next action needs and its user has yet to allow, and what is said of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from qrspi.core import trust
from qrspi.core.config.reader import Config
from qrspi.core.model import Next, NextKind, Option, RunState
from qrspi.core.steps import sending
from qrspi.core.trust import NamedThing

_RUN_BY: Mapping[NextKind, str] = {
    "run-tests": "gates.test_command",
    "ci": "gates.ci_command",
    "start-tasks": "gates.test_command",  # implementers are told of it, and run it
}


def needed(config: Config, following: Next) -> Iterator[NamedThing]:
    """Of config.md, what is named to agents or run by the next `qrspi next`."""
    implements = any(ask.kind == "implement" for ask in (*following.asks, *following.beside))
    field = _RUN_BY["start-tasks"] if implements else _RUN_BY.get(following.kind, "")
    yield from (one for one in trust.in_config(config) if one.field == field)


def to_send(config: Config, following: Next) -> Iterator[NamedThing]:
    """What agents are sent by, where sending them is what goes on."""
    if following.asks and "--dispatch" in following.command:
        works = following.asks[0].kind == "implement"
        fields = sending.reached(config, works=works)
        yield from (one for one in trust.in_config(config) if one.field in fields)


def told(state: RunState, stopping: Sequence[NamedThing], unsent: Sequence[NamedThing]) -> RunState:
    """Without the one nothing goes on; without the other a host still sends agents."""
    if stopping:
        return state._replace(next=_ask(state, stopping))
    if unsent:
        warnings = tuple(trust.problem(state.run, one) for one in unsent)
        following = state.next._replace(command=f"qrspi next {state.run}")
        return state._replace(next=following, warnings=state.warnings + warnings)
    return state


def _ask(state: RunState, missing: Sequence[NamedThing]) -> Next:
    because = tuple(trust.problem(state.run, one).message for one in missing)
    allow = f"qrspi trust {state.run}"
    return Next(
        action="blocked",
        who="human",
        summary=f"{because[0]}.",
        because=(*because, *state.next.because),
        step=state.next.step,
        round=state.next.round,
        options=(Option("trust", "allow all that this run names", allow),),
        command=allow,
        kind="trust",
    )
