"""`/runs/RUN/STEP`: its text, its rounds, what people said about its lines, and the yes or no."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject_of
from qrspi.core.tree import Fault
from qrspi.web.answers import gates
from qrspi.web.answers.forms import Form
from qrspi.web.answers.gates import Gate
from qrspi.web.answers.shown_texts import ShownText, ShownTexts
from qrspi.web.html import Page
from qrspi.web.parts import markdown, navigation, review_rounds
from qrspi.web.parts.markdown import Block, TextPlace
from qrspi.world.runs.committed_tree import CommittedTree

Comment = dict[str, Any]


class Passage(NamedTuple):
    block: Block
    comments: tuple[Comment, ...] = ()


class Shelf(NamedTuple):
    path: str
    prefix: str  # of the addresses of its lines
    front: str = ""
    passages: tuple[Passage, ...] = ()
    lines: tuple[str, ...] = ()  # of a text that is too long to be drawn
    fault: Fault | None = None
    lost: tuple[Comment, ...] = ()  # comments whose lines are nowhere

    @property
    def is_front_alone(self) -> bool:
        return not self.passages and not self.lines

    @property
    def says(self) -> str:
        if self.fault is None:
            return ""
        if self.fault.kind == "absent":
            return "There is no such file yet."
        return f"It cannot be shown: {self.fault.reason}"


class Text(NamedTuple):
    files: tuple[Shelf, ...]
    hash: str
    gate: Gate
    comment: Form | None  # None where nobody can comment

    @property
    def answers(self) -> tuple[Form, ...]:
        return (*self.gate.forms, *((self.comment,) if self.comment else ()))


def text(commands: Commands, texts: ShownTexts, run: dict[str, Any], step: str) -> Text:
    tree = CommittedTree(f"{commands.session.root.runs_dir}/{run['run']}")
    subject = subject_of(step)
    shown = texts.show(tree, subject)
    comments = _comments(commands, run["run"])
    gate = gates.approval(commands, run, step, shown) if step in STEP else Gate()
    there = comments is not None and subject.artifact in shown.texts
    form = gates.comment(run["run"], step) if there else None
    return Text(shelves(shown, run["run"], comments or []), shown.hash, gate, form)


def shelves(shown: ShownText, run: str, comments: list[Comment]) -> tuple[Shelf, ...]:
    read = (
        shelf(words, TextPlace(run, path, f"{path}:" if at else ""), comments)
        for at, (path, words) in enumerate(shown.texts.items())
    )
    missing = (Shelf(path, f"{path}:", fault=fault) for path, fault in shown.faults.items())
    return (*read, *missing)


def shelf(words: str, place: TextPlace, comments: list[Comment]) -> Shelf:
    mine = [comment for comment in comments if comment["file"] == place.path]
    if len(words) > markdown.LONGEST:
        lines = tuple(words.splitlines())
        return Shelf(place.path, place.prefix, lines=lines, lost=tuple(mine))
    blocks = markdown.blocks(words, place)
    passages = tuple(_beside(blocks, mine))
    drawn = {one["id"] for passage in passages for one in passage.comments}
    lost = tuple(one for one in mine if one["id"] not in drawn)
    return Shelf(place.path, place.prefix, markdown.front_matter(words), passages, lost=lost)


def _beside(blocks: tuple[Block, ...], comments: list[Comment]) -> Iterator[Passage]:
    """A comment stands below the block in which its lines end."""
    before = 0
    for block in blocks:
        here = tuple(one for one in comments if before < (one["end"] or 0) <= block.last)
        before = block.last
        yield Passage(block, here)


def _comments(commands: Commands, run: str) -> list[Comment] | None:
    """None where they cannot be read."""
    answer = commands.run("comment", "list", run, "--all")
    return None if answer.status else answer.document["comments"]


def page(commands: Commands, texts: ShownTexts, name: str, step: str) -> Page:
    run = commands.ask("status", name)["runs"][0]
    subject = subject_of(step)
    tree = CommittedTree(f"{commands.session.root.runs_dir}/{name}")
    rounds = review_rounds.of_step(tree, subject)
    known = {one["step"]: one for one in run["steps"]}
    read = text(commands, texts, run, step)
    is_next = run["next"]["step"] == step
    forms = gates.of_run(run) if is_next else ()
    context = {
        "run": run,
        "step": step,
        "state": None if subject.is_task else known.get(subject.step),
        "artifact": subject.artifact,
        "read": read,
        "forms": forms,
        "rounds": rounds,
        "plot": review_rounds.plot(rounds),
        "track": navigation.stops(run, step),
        "is_next": is_next,
        "is_said_here": is_next and bool(forms or read.gate.forms or run["next"]["who"] != "human"),
    }
    return Page("step.html", f"{step} · {name}", context, name, following=gates.following(run))
