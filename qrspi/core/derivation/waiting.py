"""What waits for a person, over all runs; and what a host can wait for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qrspi.core.derivation import option_commands
from qrspi.core.hints import Literal
from qrspi.core.model import Next, NextKind, Option, Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP

Kind = Literal["approve", "pause", "failure", "menu", "task", "cap"]
_KINDS: dict[NextKind, Kind] = {
    "approve": "approve",
    "pause": "pause",
    "failure": "failure",
    "fix-files": "failure",
    "cap": "cap",
    "task": "task",
    "checkpoint-task": "task",
    "checkpoint-cap": "cap",
}


class Item(NamedTuple):
    run: str
    kind: Kind
    step: str
    round: int
    summary: str
    command: str
    finding: str = ""  # the finding to decide about, at a pause
    options: tuple[Option, ...] = ()
    runnable: bool = True  # the command decides nothing that a person has not

    @property
    def ways(self) -> tuple[str, ...]:
        """The command; or, where a person has to choose, one for each option."""
        commands = [one.command for one in self.options if one.command]
        return tuple(commands) if self.command in commands else (self.command,)


def items(states: Iterable[RunState]) -> tuple[Item, ...]:
    return tuple(item for state in states for item in _waiting(state))


def _waiting(state: RunState) -> Iterator[Item]:
    """One item for each run, or for each undecided finding; and one for each task that cannot go on
    until somebody has reviewed it."""
    if state.closed:
        return
    yield from _asked_for(state)
    yield from (_item(state.run, "task", asked) for asked in state.aside)
    yield from _unapproved(state)
    yield from (_not_allowed(state.run, one) for one in state.warnings if one.code in _UNALLOWED)
    for row in state.checkpoints:
        if row.kind and not (state.next.who == "human" and state.next.command == row.command):
            kind: Kind = "cap" if row.kind == "cap" else "task"
            yield Item(
                run=state.run,
                kind=kind,
                step=row.task,
                round=0,
                summary=f"{row.summary}.",
                command=row.command,
            )


def _asked_for(state: RunState) -> Iterator[Item]:
    asked = state.next
    if asked.who != "human" and asked.kind != "fix-files":  # which a person can have made again
        return
    kind = _KINDS.get(asked.kind, "menu")
    item = _item(state.run, kind, asked)
    if kind != "pause":
        yield item
        return
    for held in asked.held:
        options = option_commands.about_finding(state.run, held, asked.options)
        back = any(option.key == "loop-back" for option in options)
        others = "skip it, or go back to what it is really about" if back else "or skip it"
        yield item._replace(
            summary=f"{held.name}: apply it, {others}",
            command=options[0].command,
            finding=held.name,
            options=options,
        )


def _item(run: str, kind: Kind, asked: Next) -> Item:
    item = Item(run, kind, asked.step, asked.round, asked.summary, asked.command)
    return item._replace(options=asked.options, runnable=asked.runnable != "")


_DOUBTS = ("claims-approval", "edited-after-approval")


def _unapproved(state: RunState) -> Iterator[Item]:
    """A text that says approved but differs from the approved one waits for a person, wherever the
    run stands. The text that the run asks for next is left out: it waits already."""
    asked = state.next.step if state.next.kind == "approve" else ""
    steps = {definition.artifact: step for step, definition in STEP.items()}
    doubts = {item.file: item for item in reversed(state.warnings) if item.code in _DOUBTS}
    for file, item in reversed(doubts.items()):
        step = steps[file]
        if step != asked:
            yield Item(
                run=state.run,
                kind="approve",
                step=step,
                round=0,
                summary=f"{item.message}.",
                command=item.hint,
            )


_UNALLOWED = ("consent-needed", "budget-calls", "budget-tokens", "budget-usd")


def _not_allowed(run: str, problem: Problem) -> Item:
    """What agents could be sent by."""
    return Item(run, "menu", "", 0, f"{problem.message}.", problem.hint, runnable=False)


Awaited = Literal["human", "agent", "change"]


def happened(awaited: Awaited, before: RunState, now: RunState) -> bool:
    """Whoever waits for a person or an agent is told at once if one is needed already."""
    if awaited == "change":
        return changed(before, now) != ()
    return now.next.who == awaited and not now.closed


def in_vain(awaited: Awaited, now: RunState) -> bool:
    return awaited != "change" and (now.closed or now.next.who == "nobody")


def changed(before: RunState, now: RunState) -> tuple[str, ...]:
    """Which parts of the run's document have changed. A heartbeat alone is no change."""
    before, now = _without_heartbeats(before), _without_heartbeats(now)
    pairs = zip(before._asdict().items(), now, strict=True)
    return tuple(name for (name, old), new in pairs if old != new)


def _without_heartbeats(state: RunState) -> RunState:
    rows = tuple(row._replace(heartbeat=None) for row in state.checkpoints)
    return state._replace(checkpoints=rows)
