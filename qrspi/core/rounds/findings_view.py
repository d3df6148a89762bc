"""A round's findings with everything that led to their verdicts, and where each comes from."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.config.reader import Config
from qrspi.core.findings import lineage, triage
from qrspi.core.findings.lineage import Lineage, Sighting, State
from qrspi.core.model import Triaged
from qrspi.core.rounds import escape_report as escape
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds import verified_file as verified
from qrspi.core.rounds.loop import Loop
from qrspi.core.tree import Fault, Tree


class Shown(NamedTuple):
    round: int  # the one it was found in; an earlier one when it is resolved
    file: str  # run-relative
    item: Triaged
    threshold: int | None  # None: no score can drop it
    reason: str  # the verifier's own words
    lineage: State
    course: str  # why the lineage is what it is
    earlier: Sighting | None = None  # what a finding that comes back was before


def config_of(tree: Tree, loop: Loop, config: Config) -> Config:
    """A closed round is judged by what it was assembled under, not by today's setting."""
    data = tree.read(loop.paths.verified) if loop.stage == "closed" else Fault("absent")
    said = None if isinstance(data, Fault) else verified.recorded_verifier(data)
    return config._replace(verifier_enabled=said == "true") if said else config


def findings(tree: Tree, loop: Loop, config: Config) -> tuple[Shown, ...]:
    """Those of this round, then those of earlier rounds that it no longer has."""
    rounds = [
        one for one in escape.chronicle(tree, loop.subject, config, 0) if one.number <= loop.number
    ]
    trace = lineage.trace(rounds, loop.subject.step)
    here = [
        _shown(loop, item, course)
        for item, course in zip(loop.triaged, trace.findings, strict=True)
    ]
    finished = loop.round is not None and not loop.round.silent_tags
    gone = [_resolved(tree, loop, config, course) for course in trace.resolved if finished]
    return (*here, *gone)


def _shown(loop: Loop, item: Triaged, course: Lineage) -> Shown:
    sidecar = loop.round.sidecars.get(item.finding.stem) if loop.round else None
    return Shown(
        loop.number,
        f"{loop.paths.directory}/{item.finding.file}",
        item,
        triage.THRESHOLDS.get(item.finding.effective_type),
        sidecar.reason if sidecar else "",
        course.state,
        course.because,
        course.earlier,
    )


def _resolved(tree: Tree, loop: Loop, config: Config, course: Lineage) -> Shown:
    last = course.sightings[-1]
    then = loops.at(tree, loop.subject, config, last.round)
    item = next(one for one in then.triaged if one.finding.name == last.record.name)
    return _shown(then, item, course)
