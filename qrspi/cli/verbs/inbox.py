"""`qrspi inbox`: everything that waits for a person."""

from __future__ import annotations

import click

from qrspi.cli import status_answer
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.derivation import waiting
from qrspi.core.derivation.waiting import Item
from qrspi.render.terminal import one_line


@verb("inbox")
@click.option("--commands", is_flag=True, help="Only the commands, one a line, to edit and run.")
def command(session: Session, commands: bool) -> None:
    """Everything that waits for a person, over all runs, each with the command that goes on.

    `qrspi inbox --commands > answers.sh` gives a file to edit: answer all of it in one go.
    """
    found = waiting.items(status_answer.look(session, status_answer.Request()).runs)
    document = {"schema": "qrspi/inbox/v1", "items": [_document(item) for item in found]}
    session.answer(document, _commands(found) if commands else _lines(found))


def _document(item: Item) -> dict[str, object]:
    said = item._asdict()
    return {**said, **{name: said[name] or None for name in ("step", "round", "finding")}}


def _commands(found: tuple[Item, ...]) -> list[str]:
    return [one_line(item.command) for item in found]


def _lines(found: tuple[Item, ...]) -> list[str]:
    if not found:
        return ["Nothing waits for a person."]
    lines = []
    for item in found:
        number = f" round {item.round}" if item.round else ""
        lines += [
            f"{item.run}  {item.kind}: {item.step}{number}",
            f"  {one_line(item.summary)}",
            f"  $ {one_line(item.command)}",
            "",
        ]
    return lines[:-1]
