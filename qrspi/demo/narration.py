"""What the engine did, in one plain sentence each. Every number in it is read from the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths
from qrspi.core.gates.audit import audit_report
from qrspi.core.gates.audit.audit_report import Report
from qrspi.core.model import Round, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject, subject_of
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.text.shortened import listed
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
    who: Who
    says: str
    step: str = ""
    round: int = 0


def engine(tree: Tree, performed: Mapping[str, Any]) -> Iterator[Beat]:
    handler, step, number = performed["handler"], performed["step"], performed["round"] or 0
    if handler not in SENTENCES:
        raise RuntimeError(f"the engine did something the story does not know: {performed}")
    task = f"{step}: " if about(performed).is_task else ""
    for text in _sentences(tree, performed):
        yield Beat("engine", task + text, step, number)


def _sentences(tree: Tree, performed: Mapping[str, Any]) -> Iterable[str]:
    sentence = SENTENCES[performed["handler"]]
    if not isinstance(sentence, str):
        return sentence(tree, performed)
    files = listed(performed["files"]) if performed["files"] else ""
    return (sentence.format(step=performed["step"], round=performed["round"], files=files),)


def reviewer(tag: str) -> str:
    return tag.removesuffix("-claude")


_CITED = re.compile(r" \(`[^`]+`\)")


def first_sentence(text: str) -> str:
    return _CITED.sub("", " ".join(text.split())).partition(". ")[0].rstrip(".")


def about(moment: Mapping[str, Any]) -> Subject:
    return subject_of(moment["step"])


def config(tree: Tree) -> Config:
    return configs.read(tree.read("config.md", CONFIG_LIMIT))


def loop(tree: Tree, moment: Mapping[str, Any]) -> Loop:
    return loops.at(tree, about(moment), config(tree), moment["round"])


def review_round(tree: Tree, moment: Mapping[str, Any]) -> Round:
    round = loop(tree, moment).files
    assert round is not None
    return round


def manifest(tree: Tree, path: str) -> Manifest:
    held = manifests.read(tree.read(path, manifests.LIMIT), path)
    assert isinstance(held, Manifest), held
    return held


def _prepared(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    opened = manifest(tree, RoundPaths(about(performed).reviews, performed["round"]).manifest)
    names = listed([reviewer(tag) for tag in opened.expected_tags])
    yield f"opens round {opened.round} for {names}"
    if opened.choice.narrow:
        parts = listed([f'"{tag}"' for tag in opened.choice.scope_hint])
        yield (
            f"narrows it to {parts}: the last two rounds spoke of nothing else, so reviewers get "
            "the last fix to read instead of everything"
        )


def _assembled(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    triaged = loop(tree, performed).triaged
    if not triaged:
        yield "counts for itself: no finding, so the round is clean"
        return
    kept = [item for item in triaged if item.verdict == "keep"]
    if kept:
        yield f"keeps {listed([item.finding.name for item in kept])}"
    yield from (f"drops {_named(item)}" for item in triaged if item.verdict == "drop")
    paused = (item for item in triaged if item.verdict == "pause")
    yield from (f"stops for a person: {_named(item)}" for item in paused)


def _named(item: Triaged) -> str:
    return f"{item.finding.name}, because {item.because}"


def _prompted(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    """An awaited agent always has a prompt; this is told once, about the first reviewers."""
    if performed["step"] == "goals" and performed["round"] == 1 and len(performed["files"]) > 1:
        yield "leaves a prompt for each of them in .qrspi/dispatch/"


def _started(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    keys = [note.partition(":")[0] for note in performed["notes"]]
    wave = f": a wave of {len(keys)}" if len(keys) > 1 else ""
    yield f"makes a branch and a work tree for {listed(keys)}{wave}"


def _merged(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    """Without the commits, which differ from one run to the next."""
    for note in performed["notes"]:
        merged, _, into = note.partition(") into ")
        if not merged.startswith("merged "):
            raise RuntimeError(f"a merge that the story does not know: {note}")
        yield f"merges {merged.split()[1]} into {into.partition(' ')[0]}"


def _tested(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    if performed["notes"] != ["The tests passed"]:
        raise RuntimeError(f"tests that pass in the story did not: {performed['notes']}")
    yield "runs the tests, and they pass"


def _audited(tree: Tree, performed: Mapping[str, Any]) -> Iterator[str]:
    report = audit_report.read(tree)
    assert isinstance(report, Report), report
    first, *rest = (line.removeprefix("audit of ") for line in report.lines)
    yield f"audits the plan, for which nobody is asked: {first}"
    yield from (f"notes under {line}" for line in rest[:1])


SENTENCES: dict[str, str | Callable[[Tree, Mapping[str, Any]], Iterator[str]]] = {
    "prepare-round": _prepared,
    "assemble": _assembled,
    "commit-round": "commits the round",
    "choose-loop": "goes on until a round is clean, as nobody asked to see it sooner",
    "write-prompts": _prompted,
    "cascade": "says why in cascade-audit.log, then approves {step} without a person",
    "audit": _audited,
    "checkpoint-rows": "makes {files}, in which implementers ask for review",
    "start-tasks": _started,
    "settle": "takes the new commit for the answer to round {round}",
    "draft-implementation": "every task has come to its end: writes {files}",
    "merge": _merged,
    "run-tests": _tested,
    "draft-pull-request": "writes {files}, ready to be sent",
}
