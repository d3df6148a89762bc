"""A loop's findings over its rounds: where each comes from, what led to its verdict, and what is
unresolved when the loop stops."""

from __future__ import annotations

from qrspi.core.config.reader import Config
from qrspi.core.filenames import RoundPaths, escape_file
from qrspi.core.findings import triage
from qrspi.core.model import Finding, Triaged
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import Subject
from qrspi.core.records.decisions import RoundDecisions
from qrspi.core.rounds import lineage, pause_file, round_list, scope_set
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.lineage import FindingRecord, Lineage, RoundFindings, Sighting, State, Trace
from qrspi.core.rounds.loop import Loop
from qrspi.core.rounds.pause_file import Pause
from qrspi.core.snapshot import Snapshot
from qrspi.core.text.shortened import in_short
from qrspi.core.tree import Fault, Tree, exists


class Outlook(NamedTuple):
    word: str  # converging, stagnant or oscillating
    because: str


class Open(NamedTuple):
    finding: Finding
    lineage: Lineage


def escape_is_written(tree: Tree, loop: Loop) -> bool:
    return exists(tree, escape_file(loop.subject.key, loop.round))


def outlook(tree: Tree, loop: Loop, config: Config, base: int) -> Outlook:
    return _outlook(_trace(tree, loop, config, base))


def _trace(tree: Tree, loop: Loop, config: Config, base: int) -> Trace:
    return lineage.trace(chronicle(tree, loop.subject, config, base), loop.subject.step)


def _outlook(trace: Trace) -> Outlook:
    """A single round has nothing to be compared with, and counts as stagnant."""
    return Outlook(trace.outlook or "stagnant", trace.because)


# A loop asks a person after twenty rounds at the latest; no real loop has more rounds than this.
LONGEST = 100


def chronicle(
    tree: Tree, subject: Subject, config: Config, base: int, upto: int = round_list.HIGHEST
) -> tuple[RoundFindings, ...]:
    """The findings of each round after `base`; only the last rounds of very many."""
    tree = Snapshot(tree)  # the folder of a long loop is listed many times
    artifact = tree.read(subject.artifact)
    numbers = round_list.latest(tree, subject, upto, LONGEST)
    rounds = loops.each(tree, subject, config, (number for number in numbers if number > base))
    return tuple(
        RoundFindings(
            one.round, records(tree.name, subject, one.triaged, one.pause, artifact, one.decided)
        )
        for one in rounds
    )


def records(
    run: str,
    subject: Subject,
    triaged: tuple[Triaged, ...],
    pause: Pause | None,
    artifact: bytes | Fault,
    decided: RoundDecisions,
) -> tuple[FindingRecord, ...]:
    tagged = scope_set.tag_each([item.finding for item in triaged], subject, run, artifact)
    decisions = pause.decisions if pause else {}
    return tuple(
        FindingRecord(
            tag=item.finding.tag,
            finding_id=item.finding.finding_id,
            section=place.tag,
            message=item.finding.message,
            verdict=item.verdict,
            decision=decisions.get(item.finding.name, ""),
            cited=pause_file.cited(item.finding),
            said=_said(item, pause, decided),
        )
        for item, place in zip(triaged, tagged, strict=True)
    )


def _said(item: Triaged, pause: Pause | None, decided: RoundDecisions) -> str:
    name = item.finding.name
    return decided.said_of(name, pause.decisions.get(name, "")) if pause else ""


_LINES = 300  # the newest findings, of a loop that has no end


def fates(tree: Tree, loop: Loop, config: Config, base: int) -> tuple[str, ...]:
    """One line for each finding of the loop's earlier rounds: its words, and what became of it."""
    rounds = chronicle(tree, loop.subject, config, base)
    earlier = (one for one in rounds if one.number < loop.round)
    lines = [_fate(tree, loop, one.number, record) for one in earlier for record in one.records]
    return tuple(lines[-_LINES:])


def _fate(tree: Tree, loop: Loop, number: int, record: FindingRecord) -> str:
    message = in_short(record.message)
    fixed = "" if record.settled else _done(tree, loop, number, record.name)
    cited = f"it cites {in_short(record.cited)}, as round {number} read it"
    return f"{record.name} ({cited}): {record.fate}{fixed}: {message}"


def _done(tree: Tree, loop: Loop, number: int, name: str) -> str:
    """What the fixer says of it. Not every reviewer can open the file."""
    file = RoundPaths(loop.subject.reviews, number).dispositions
    data = tree.read(file)
    if isinstance(data, Fault):
        return ""
    from qrspi.core.rounds import dispositions

    words = dispositions.said_of(data, name)
    return f' (its fixer: "{in_short(words)}")' if words else f", see {file}"


def escape_report(tree: Tree, loop: Loop, config: Config, base: int, reason: str) -> bytes:
    from qrspi.core.yaml import writer

    trace = _trace(tree, loop, config, base)
    still_open = unresolved(loop, trace)
    course = _outlook(trace)
    step = loop.subject.key
    head = (
        f"---\nstep: {step}\nround: {loop.round}\nreason: {writer.sentence(reason)}\n"
        f"outlook: {course.word}\nunresolved: {len(still_open)}\n---\n"
    )
    title = (
        f"\n# The review loop of {step} stops after round {loop.round:02d}\n\n{reason}.\n\n"
        f"Outlook: {course.word} ({course.because})\n"
    )
    return (head + title + "".join(map(_section, still_open))).encode(errors="backslashreplace")


def unresolved(loop: Loop, trace: Trace) -> tuple[Open, ...]:
    pairs = zip(loop.triaged, trace.findings, strict=True)
    return tuple(
        Open(item.finding, course)
        for item, course in pairs
        if not _own(course, loop.round, item.finding).settled
    )


def _own(course: Lineage, number: int, finding: Finding) -> FindingRecord:
    """The finding itself among the sightings of its defect."""
    at_round = (seen.record for seen in course.sightings if seen.round == number)
    return next(record for record in at_round if record.name == finding.name)


def _section(item: Open) -> str:
    finding = item.finding
    return (
        f"\n## {finding.name}\n\n"
        f"{finding.severity} · {finding.effective_type} · {item.lineage.state}: "
        f"{item.lineage.because}\n"
        f"Cites: {pause_file.cited(finding)}\n"
        f"History: {lineage.history(item.lineage)}\n\n{pause_file.quoted(finding)}"
    )


class ShownFinding(NamedTuple):
    round: int  # the one it was found in; an earlier one when it is resolved
    file: str  # run-relative
    item: Triaged
    threshold: int | None  # None: no score can drop it
    reason: str  # the verifier's own words
    lineage: State
    course: str  # why the lineage is what it is
    earlier: Sighting | None = None  # what a finding that comes back was before
    said: str = ""  # what a person chose, who and when, as far as it is on record


def config_of(tree: Tree, loop: Loop, config: Config) -> Config:
    """A closed round is judged by the setting it was assembled under, not by today's."""
    data = tree.read(loop.paths.verified) if loop.stage == "closed" else Fault("absent")
    if isinstance(data, Fault):
        return config
    from qrspi.core.rounds import verified_file

    recorded = verified_file.recorded_verifier(data)
    return config._replace(verifier_enabled=recorded == "true") if recorded else config


def shown(tree: Tree, loop: Loop, config: Config) -> tuple[ShownFinding, ...]:
    """The findings of this round, then those of earlier rounds that it no longer has."""
    rounds = chronicle(tree, loop.subject, config, 0, loop.round)
    trace = lineage.trace(rounds, loop.subject.step)
    pairs = zip(loop.triaged, trace.findings, strict=True)
    here = [_shown(loop, item, course) for item, course in pairs]
    files = loop.files
    finished = files is not None and not files.silent_tags and not files.violations
    gone = [_resolved(tree, loop, config, course) for course in trace.resolved if finished]
    return (*here, *gone)


def _shown(loop: Loop, item: Triaged, course: Lineage) -> ShownFinding:
    sidecar = loop.files.sidecars.get(item.finding.stem) if loop.files else None
    decided = _said(item, loop.pause, loop.decided)
    because = f"{decided}; {item.because}" if decided else item.because
    return ShownFinding(
        round=loop.round,
        file=f"{loop.paths.directory}/{item.finding.file}",
        item=item._replace(because=because),
        threshold=triage.THRESHOLDS.get(item.finding.effective_type),
        reason=sidecar.reason if sidecar else "",
        lineage=course.state,
        course=course.because,
        earlier=course.earlier,
        said=decided,
    )


def _resolved(tree: Tree, loop: Loop, config: Config, course: Lineage) -> ShownFinding:
    last = course.sightings[-1]
    earlier = loops.at(tree, loop.subject, config, last.round)
    item = next(triaged for triaged in earlier.triaged if triaged.finding.name == last.record.name)
    return _shown(earlier, item, course)
