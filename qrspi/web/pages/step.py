"""`/runs/RUN/STEP`: its text, its rounds, and the yes or no to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from qrspi.cli.in_process import Commands
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.tree import Fault
from qrspi.web import gates, markdown, review_rounds
from qrspi.web.gates import Gate
from qrspi.web.markdown import Block
from qrspi.web.shown_texts import Shown, ShownTexts
from qrspi.web.templates import Page
from qrspi.world.files.run_tree import DiskTree


class Shelf(NamedTuple):
    """One file of a step."""

    path: str
    front: str
    blocks: tuple[Block, ...]
    fault: Fault | None = None


class Text(NamedTuple):
    files: tuple[Shelf, ...]
    hash: str
    gate: Gate


def text(commands: Commands, texts: ShownTexts, run: dict[str, Any], step: str) -> Text:
    tree = DiskTree(f"{commands.session.root.runs_dir}/{run['run']}")
    about = subject_of(step)
    shown = texts.show(tree, about)
    gate = gates.approval(commands, run, step, shown) if step in STEP else Gate()
    return Text(shelves(shown, run["run"]), shown.hash, gate)


def shelves(shown: Shown, run: str) -> tuple[Shelf, ...]:
    read = (
        Shelf(path, markdown.front_matter(words), markdown.blocks(words, run, path))
        for path, words in shown.texts.items()
    )
    missing = (Shelf(path, "", (), fault) for path, fault in shown.faults.items())
    return (*read, *missing)


def page(commands: Commands, texts: ShownTexts, name: str, step: str) -> Page:
    run = commands.ask("status", name)["runs"][0]
    about = subject_of(step)
    tree = DiskTree(f"{commands.session.root.runs_dir}/{name}")
    rounds = review_rounds.of_step(tree, about)
    known = {one["step"]: one for one in run["steps"]}
    context = {
        "run": run,
        "step": step,
        "state": known.get(about.step),
        "artifact": about.artifact,
        "read": text(commands, texts, run, step),
        "rounds": tuple(reversed(rounds)),
        "plot": review_rounds.plot(rounds),
        "comments": _comments(commands, name, about.artifact),
    }
    return Page("step.html", f"{step} · {name}", context, name)


def _comments(commands: Commands, run: str, artifact: str) -> list[dict[str, Any]] | None:
    """Open ones of this text; None where the comments cannot be read."""
    answer = commands.run("comment", "list", run)
    if answer.status:
        return None
    return [one for one in answer.document["comments"] if one["file"] == artifact]
