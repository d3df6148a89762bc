"""What a review loop leaves behind when it stops: every finding that is still open, with its
history, and whether the loop was getting anywhere."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.config.reader import Config
from qrspi.core.filenames import escape_file
from qrspi.core.findings import lineage
from qrspi.core.findings.lineage import Lineage, Record, RoundFindings, Trace
from qrspi.core.model import Finding
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import pause_file as pauses
from qrspi.core.rounds import scope_set as scope
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import reader as yaml


class Outlook(NamedTuple):
    """`word` is converging, stagnant or oscillating."""

    word: str
    because: str


class Open(NamedTuple):
    """A finding that nobody has settled."""

    finding: Finding
    lineage: Lineage


def is_written(tree: Tree, loop: Loop) -> bool:
    found = tree.head(escape_file(loop.subject.key, loop.number))
    return not (isinstance(found, Fault) and found.kind == "absent")


def outlook(tree: Tree, loop: Loop, config: Config, base: int) -> Outlook:
    return _outlook(_trace(tree, loop.subject, config, base))


def _trace(tree: Tree, subject: Subject, config: Config, base: int) -> Trace:
    return lineage.trace(chronicle(tree, subject, config, base), subject.step)


def _outlook(trace: Trace) -> Outlook:
    """A single round has nothing to be compared with: it has not moved."""
    return Outlook(trace.outlook or "stagnant", trace.because)


def chronicle(tree: Tree, subject: Subject, config: Config, base: int) -> tuple[RoundFindings, ...]:
    """The findings of each round after `base`, and what became of them."""
    artifact = tree.read(subject.artifact)
    rounds = [
        loops.at(tree, subject, config, number)
        for number in loops.rounds(tree, subject)
        if number > base
    ]
    return tuple(RoundFindings(loop.number, _records(tree, loop, artifact)) for loop in rounds)


def _records(tree: Tree, loop: Loop, artifact: bytes | Fault) -> tuple[Record, ...]:
    findings = [item.finding for item in loop.triaged]
    tagged = scope.tag_each(findings, loop.subject, tree.name, artifact)
    decisions = loop.pause.decisions if loop.pause else {}
    return tuple(
        Record(
            item.finding.tag,
            item.finding.finding_id,
            place.tag,
            item.finding.message,
            item.verdict,
            decisions.get(item.finding.name, ""),
        )
        for item, place in zip(loop.triaged, tagged, strict=True)
    )


def render(tree: Tree, loop: Loop, config: Config, base: int, reason: str) -> bytes:
    trace = _trace(tree, loop.subject, config, base)
    still_open = unresolved(loop, trace)
    found = _outlook(trace)
    step = loop.subject.key
    head = (
        f"---\nstep: {step}\nround: {loop.number}\nreason: {yaml.sentence(reason)}\n"
        f"outlook: {found.word}\nunresolved: {len(still_open)}\n---\n"
    )
    title = (
        f"\n# The review loop of {step} stops after round {loop.number:02d}\n\n{reason}.\n\n"
        f"Outlook: {found.word} ({found.because})\n"
    )
    return (head + title + "".join(map(_section, still_open))).encode(errors="backslashreplace")


def unresolved(loop: Loop, trace: Trace) -> tuple[Open, ...]:
    pairs = zip(loop.triaged, trace.findings, strict=True)
    return tuple(
        Open(item.finding, course)
        for item, course in pairs
        if not _own(course, loop.number, item.finding).settled
    )


def _own(course: Lineage, number: int, finding: Finding) -> Record:
    """The finding itself among the sightings of its defect."""
    return next(
        seen.record
        for seen in course.sightings
        if seen.round == number and seen.record.name == finding.name
    )


def _section(item: Open) -> str:
    finding = item.finding
    return (
        f"\n## {finding.name}\n\n"
        f"{finding.severity} · {finding.effective_type} · {item.lineage.state}: "
        f"{item.lineage.because}\n"
        f"Cites: {pauses.cited(finding)}\n"
        f"History: {lineage.history(item.lineage)}\n\n{pauses.quoted(finding)}"
    )
