"""What `inbox` says: everything that waits for a person."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.cli.answers import status
from qrspi.cli.session import Session
from qrspi.core.derivation import waiting
from qrspi.core.derivation.waiting import Item
from qrspi.core.model import RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.render import run_page
from qrspi.render.terminal import one_line
from qrspi.world.runs import locate


class Inbox(NamedTuple):
    runs: tuple[RunState, ...]
    items: tuple[Item, ...]


def look(session: Session) -> Inbox:
    runs = status.look(session, status.Request()).runs
    return Inbox(runs, waiting.items(runs))


def show(session: Session, commands: bool = False) -> None:
    items = look(session).items
    lines = _to_edit(items) if commands else _lines(items)
    session.answer({"schema": "qrspi/inbox/v1", "items": list(map(document, items))}, lines)


def counts(session: Session, names: Iterable[str] | None = None) -> dict[str, int]:
    """How much waits for a person in each open run: in all of them, or in those that are named."""
    if names is None:
        states = status.look(session, status.Request()).runs
    else:
        runs = (locate.run_named(session.root, name) for name in names)
        states = status.glance(session, [run for run in runs if run])
    return {state.run: len(waiting.items((state,))) for state in states if not state.closed}


def document(item: Item) -> dict[str, object]:
    said = item._asdict()
    runnable = said.pop("runnable")
    named = {name: said[name] or None for name in ("step", "round", "finding")}
    command = item.command if runnable else None
    return {**said, **named, "command": command, "options": run_page.options(item.options)}


def _to_edit(found: tuple[Item, ...]) -> list[str]:
    """To be run as it stands: what only a person can choose is left out with a #."""
    return [
        f"{'' if item.runnable else '# '}{one_line(way)}" for item in found for way in item.ways
    ]


def _lines(found: tuple[Item, ...]) -> list[str]:
    if not found:
        return ["Nothing waits for a person."]
    lines = []
    for item in found:
        number = f" round {item.round}" if item.round else ""
        about = f": {item.step}{number}" if item.step else ""
        lines += [
            f"{item.run}  {item.kind}{about}",
            f"  {one_line(item.summary)}",
            *(f"  $ {one_line(way)}" for way in item.ways),
            "",
        ]
    return lines[:-1]
