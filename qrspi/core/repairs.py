"""What a command that was killed left half done, and the next one finishes before anything else."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from qrspi.core import approvals, cascade, gate
from qrspi.core import loop as loops
from qrspi.core.approvals import Record
from qrspi.core.cascade import Entry
from qrspi.core.facts import Facts
from qrspi.core.gate import CASCADING
from qrspi.core.loop import Loop
from qrspi.core.pipeline import subject
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
    newest = {entry.artifact: entry for entry in entries}
    found = (_of(facts, entry) for step, entry in newest.items() if step in CASCADING)
    return next((item for item in found if item), None)


def _of(facts: Facts, entry: Entry) -> Unrecorded | None:
    facts = facts._replace(step=entry.artifact)
    approved = facts.statuses.get(facts.step) == "approved"
    # Order comes from round numbers: what was decided about the step since kept its highest one.
    if not approved or entry.trigger_round <= facts.base or is_recorded(facts, entry.trigger_round):
        return None
    about = subject(facts.step)
    assert about is not None
    loop = loops.evaluate(facts.tree, about, facts.config, facts.base)
    if not gate.cascades(facts.tree, loop, facts.config, facts.base):
        return None
    digest = manifest_hash(facts, loop)
    wanted = cascade.entry(loop, facts.config, facts.base, digest, entry.timestamp)
    return Unrecorded(facts, loop) if cascade.tells_of(entry, wanted) else None


def is_recorded(facts: Facts, number: int) -> bool:
    """Whether the step was approved after this round, by whomever."""
    newest = approvals.newest(facts.records, facts.step)
    return newest is not None and newest.event == "approve" and newest.round >= number


def manifest_hash(facts: Facts, loop: Loop) -> str:
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
