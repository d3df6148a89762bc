"""`qrspi prompt`: a waiting prompt, to paste or to pipe."""

from __future__ import annotations

import sys

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.session import Session
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.handlers.agents import awaited_agents
from qrspi.render import agents
from qrspi.render.terminal import visible
from qrspi.world.runs import locate
from qrspi.world.runs.workspace import Workspace


def _who_waits(session: Session, word: str | None) -> None:
    run_dir = session.run(word)
    workspace = Workspace(run_dir.path)
    waiting = (*awaited_agents.prompted(workspace), *awaited_agents.quality_reviewers(workspace))
    lines = agents.awaited_lines(run_dir.name, waiting, session.width)
    if waiting:
        lines += ["", f"What one is to be told: `qrspi prompt {run_dir.name} {waiting[0].name}`."]
    session.answer(agents.awaited_document(run_dir.name, waiting), lines)


@verb("prompt")
@arguments.words("[RUN] [TAG]")
def command(session: Session, words: tuple[str, ...]) -> None:
    """Print the prompt of an agent that the run waits for; without TAG, list those agents.

    TAG is a reviewer's tag, or any other name from that list.
    """
    if not words or (len(words) == 1 and locate.run_named(session.root, words[0])):
        _who_waits(session, words[0] if words else None)
        return
    run, name = run_words.run_and_name(words, "[RUN] TAG")
    run_dir = session.run(run)
    order = awaited_agents.order(Workspace(run_dir.path), name)
    if isinstance(order, Problem):
        raise (Refusal if order.code == "not-awaited" else Halt)(order)
    text = order.prompt.decode()
    document = {
        "schema": "qrspi/prompt/v1",
        "run": run_dir.name,
        "step": order.step,
        "round": order.round or None,
        "name": order.name,
        "file": order.prompt_file,
        "model": order.model.model if order.model else None,
        "prompt": text,
    }
    # As it is: folded at the width of a terminal, markers and commands in it would be cut. But a
    # terminal must not obey what stands in an artifact.
    if sys.stdout.isatty() and not session.json:
        lines = map(session.reachable, _lines(visible(text)))
        session.write("\n".join(lines) + "\n")
    else:
        session.answer(document, _lines(text))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
