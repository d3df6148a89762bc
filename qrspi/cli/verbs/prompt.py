"""`qrspi prompt`: a waiting prompt, to paste or to pipe."""

from __future__ import annotations

import sys

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.handlers.agents import awaited_agents as waiting
from qrspi.render.safe_text import visible
from qrspi.world.runs.workspace import Workspace


@click.command("prompt", cls=Verb)
@click.argument("words", nargs=-1, metavar="[RUN] TAG")
@click.pass_obj
def command(session: Session, words: tuple[str, ...]) -> None:
    """Print what an agent that the run waits for is to be told.

    TAG is a reviewer's tag, or any other name that `qrspi dispatch list` shows.
    """
    if not 1 <= len(words) <= 2:
        raise click.UsageError("expected [RUN] TAG")
    *before, name = words
    found = session.run(before[0] if before else None)
    order = waiting.order(Workspace(found.path), name)
    if isinstance(order, Problem):
        raise (Refusal if order.code == "not-awaited" else Halt)(order)
    text = order.prompt.decode()
    document = {
        "schema": "qrspi/prompt/v1",
        "run": found.name,
        "step": order.step,
        "round": order.round or None,
        "name": order.name,
        "file": order.prompt_file,
        "model": order.model.model if order.model else None,
        "prompt": text,
    }
    # A pipe gets the very bytes; a terminal must not obey what an artifact says.
    shown = visible(text) if sys.stdout.isatty() else text
    session.answer(document, shown.removesuffix("\n").split("\n"))
