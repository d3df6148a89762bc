"""What the engine did, in one plain sentence each. Every number in it is read from the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from qrspi.core.config import reader as configs
from qrspi.core.filenames import RoundPaths
from qrspi.core.model import Triaged
from qrspi.core.pipeline import Subject, subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import CONFIG_LIMIT, Tree

Who = Literal["step", "command", "engine", "agent", "person"]

PURPOSES = {
    "goals": "what should be true in the end",
    "questions": "what must be found out first",
    "research": "the answers, each with its source",
    "design": "which way, and why",
    "phasing": "in which slices",
    "structure": "in which files",
    "plan": "as which tasks",
    "parallelize": "which tasks at the same time",
    "implement": "each task in a work tree of its own",
    "integrate": "the tasks together",
    "test": "the whole of it, run",
}


class Beat(NamedTuple):
    """One thing that happens."""

    who: Who
    says: str
    step: str = ""
    round: int = 0


def engine(tree: Tree, done: Mapping[str, Any]) -> Iterator[Beat]:
    """What one item of `performed` means. A handler without a sentence is not part of the story."""
    handler, step, number = done["handler"], done["step"], done["round"] or 0
    if handler not in SENTENCES:
        raise RuntimeError(f"the engine did something the story does not know: {done}")
    task = f"{step}: " if about(done).is_task else ""
    for text in SENTENCES[handler](tree, done):
        yield Beat("engine", task + text, step, number)


def listed(names: Sequence[str]) -> str:
    """a, b and c"""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def reviewer(tag: str) -> str:
    return tag.removesuffix("-claude")


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_CITED = re.compile(r" \(`[^`]+`\)")


def first_sentence(text: str) -> str:
    return _CITED.sub("", " ".join(text.split())).partition(". ")[0].rstrip(".")


def about(moment: Mapping[str, Any]) -> Subject:
    """The review subject of something performed, or of what is next."""
    found = subject(moment["step"])
    assert found is not None
    return found


def loop(tree: Tree, moment: Mapping[str, Any]) -> Loop:
    """The round, as the engine reads it."""
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    return loops.at(tree, about(moment), config, moment["round"])


def manifest(tree: Tree, path: str) -> Manifest:
    found = manifests.read(tree.read(path, manifests.LIMIT), path)
    assert isinstance(found, Manifest), found
    return found


def _prepared(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    found = manifest(tree, RoundPaths(about(done).reviews, done["round"]).manifest)
    names = listed([reviewer(tag) for tag in found.expected_tags])
    yield f"opens round {found.round} for {names}"
    if found.choice.narrow:
        parts = listed([f'"{tag}"' for tag in found.choice.scope_hint])
        yield (
            f"narrows it to {parts}: the last two rounds spoke of nothing else, so reviewers get "
            "the last fix to read instead of everything"
        )


def _assembled(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    triaged = loop(tree, done).triaged
    if not triaged:
        yield "counts for itself: no finding, so the round is clean"
        return
    kept = [item for item in triaged if item.verdict == "keep"]
    if kept:
        yield f"keeps {listed([item.finding.name for item in kept])}"
    yield from (f"drops {_named(item)}" for item in triaged if item.verdict == "drop")
    yield from (
        f"stops for a person: {_named(item)}" for item in triaged if item.verdict == "pause"
    )


def _named(item: Triaged) -> str:
    return f"{item.finding.name}, because {item.because}"


def _committed(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield "commits the round, and keeps the name of the commit"


def _chosen(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield "goes on until a round is clean, as nobody asked to see it sooner"


def _prompted(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    """Whoever is waited for always has a prompt; that is told once, of the first reviewers."""
    if done["step"] == "goals" and done["round"] == 1 and len(done["files"]) > 1:
        yield "leaves a prompt for each of them in .qrspi/dispatch/"


def _cascaded(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield f"says why in cascade-audit.log, then approves {done['step']} without a person"


def _started(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    keys = [note.partition(":")[0] for note in done["notes"]]
    wave = f": a wave of {len(keys)}" if len(keys) > 1 else ""
    yield f"makes a branch and a work tree for {listed(keys)}{wave}"


def _settled(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield f"takes the new commit for the answer to round {done['round']}"


def _drafted(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield f"every task has come to its end: writes {listed(done['files'])}"


def _merged(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    """The commit behind each is another one every time."""
    for note in done["notes"]:
        key, merged, _ = note.partition(": merged ")
        if not merged:
            raise RuntimeError(f"a merge that the story does not know: {note}")
        yield f"merges {key} into the feature branch"


def _tested(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    if done["notes"] != ["The tests passed"]:
        raise RuntimeError(f"tests that pass in the story did not: {done['notes']}")
    yield "runs the tests, and they pass"


def _requested(tree: Tree, done: Mapping[str, Any]) -> Iterator[str]:
    yield f"writes {listed(done['files'])}, ready to be sent"


SENTENCES: dict[str, Callable[[Tree, Mapping[str, Any]], Iterator[str]]] = {
    "prepare-round": _prepared,
    "assemble": _assembled,
    "commit-round": _committed,
    "choose-loop": _chosen,
    "write-prompts": _prompted,
    "cascade": _cascaded,
    "start-tasks": _started,
    "settle": _settled,
    "draft-implementation": _drafted,
    "merge": _merged,
    "run-tests": _tested,
    "draft-pull-request": _requested,
}
