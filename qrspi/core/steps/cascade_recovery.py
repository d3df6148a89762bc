"""What a command that was killed left half done, and the next one finishes before anything else."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from qrspi.core.pipeline import subject
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.steps import cascade_log as cascade
from qrspi.core.steps.after_round import CASCADING
from qrspi.core.steps.cascade_log import Entry
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault


class Unrecorded(NamedTuple):
    """A step that a cascade approved, and whose approval is not on record yet."""

    facts: Facts  # as seen from that step
    loop: Loop


def unrecorded(facts: Facts) -> Unrecorded | None:
    """The log is not believed: the round must still be one that approves its step, as counted
    now."""
    if cascade.FILE not in facts.names:
        return None
    entries = cascade.read(facts.tree.read(cascade.FILE, cascade.LIMIT))
    newest = {item.artifact: item for item in entries}
    found = (_of(facts, item) for step, item in newest.items() if step in CASCADING)
    return next(filter(None, found), None)


def _of(facts: Facts, found: Entry) -> Unrecorded | None:
    facts = facts._replace(step=found.artifact)
    if facts.statuses.get(facts.step) != "approved":
        return None  # what is left of it is derived like any other action
    if found.records is not None and found.records != _records(facts):
        return None  # as after every approval that was finished: nothing more is read
    about = subject(facts.step)
    assert about is not None
    loop = loops.evaluate(facts.tree, about, facts.config, facts.base)
    fires = gate.cascades(facts.tree, loop, facts.config, facts.base)
    return Unrecorded(facts, loop) if fires and is_open(facts, found, entry(facts, loop)) else None


def entry(facts: Facts, loop: Loop) -> Entry:
    """The entry of a round that approves the step the facts are seen from, but for its time."""
    wanted = cascade.entry(loop, facts.config, facts.base)
    return wanted._replace(manifest=_manifest_hash(facts, loop), records=_records(facts))


def is_open(facts: Facts, found: Entry, wanted: Entry) -> bool:
    """Whether a killed command wrote this entry, and nothing was decided about the step since."""
    if not cascade.tells_of(found, wanted):
        return False
    if found.records is None:
        newest = approvals.newest(facts.records, facts.step)
        return newest is None or newest.event != "approve" or newest.round < found.trigger_round
    return found.records == wanted.records


def _records(facts: Facts) -> int:
    return sum(record.mark(facts.step) is not None for record in facts.records)


def _manifest_hash(facts: Facts, loop: Loop) -> str:
    data = facts.tree.read(loop.paths.manifest)
    return hashlib.sha256(b"" if isinstance(data, Fault) else data).hexdigest()


def by_cascade(facts: Facts) -> tuple[str, ...]:
    """The approved steps whose newest record is a cascade's."""
    newest: dict[str, Record] = {}
    for record in facts.records:
        newest |= {step: record for step in CASCADING if record.mark(step)}
    return tuple(
        step
        for step, record in newest.items()
        if record.surface == cascade.SURFACE and facts.statuses.get(step) == "approved"
    )
