"""Steps that a quick run approves by itself: their log, and what a killed command left of one.

The log is cascade-audit.log, one object a line. An entry is written before anything is approved.
What a killed command left is known by the hash of the round's manifest, since a new phase numbers
its rounds from 01 again, and by the number of the step's records, since clocks give no order.
"""

from __future__ import annotations

from qrspi.core import reviewers
from qrspi.core.digest import sha256
from qrspi.core.hints import Any
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.records import approvals
from qrspi.core.records.json_fields import items, table, whole
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round
from qrspi.core.steps.after_round import CASCADING
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault, content

FILE = approvals.CASCADES
LIMIT = 64 * 1024 * 1024
EVENT = "cascade-auto-approve"
SURFACE = approvals.CASCADE


class CascadeEntry(NamedTuple):
    artifact: str  # the step's name
    timestamp: str
    trigger_round: int
    rationale: str
    reviewer_tags: tuple[str, ...]
    sentinel_files: tuple[str, ...]  # run-relative
    manifest: str  # sha256
    records: int | None  # of the step, in approvals.jsonl, when it was written


def entry(facts: Facts, loop: Loop) -> CascadeEntry:
    """The time is added when it is written."""
    assert loop.files is not None
    expected = reviewers.expected_tags(loop.subject, facts.config)
    return CascadeEntry(
        artifact=loop.subject.key,
        timestamp="",
        trigger_round=loop.round,
        rationale="initial-clean" if loop.round - facts.base == 1 else "first-fix-clean",
        reviewer_tags=tuple(dict.fromkeys((*expected, *loop.answered))),
        sentinel_files=tuple(f"{loop.paths.directory}/{one.file}" for one in loop.files.cleans),
        manifest=sha256(content(facts.tree, loop.paths.manifest)).hexdigest(),
        records=_records(facts),
    )


def render(entry: CascadeEntry) -> dict[str, Any]:
    return {"event": EVENT, **entry._asdict()}


def sentinel(entry: CascadeEntry, tag: str) -> bytes:
    fields = f"artifact: {entry.artifact}\nround: {entry.trigger_round}\nreviewer: {tag}\n"
    return f"---\n{fields}kept: 0\n---\n".encode()


def read(content: bytes | Fault) -> tuple[CascadeEntry, ...] | Problem:
    """A torn or foreign line says nothing."""
    if isinstance(content, Fault):
        return approvals.no_cascades(content) or ()
    return tuple(entry for line in content.split(b"\n") if (entry := _line(line)))


def _line(line: bytes) -> CascadeEntry | None:
    document = table(line)
    if document is None or document.get("event") != EVENT:
        return None
    texts = {key: document.get(key, "") for key in _TEXTS}
    number = document.get("trigger_round")
    if type(number) is not int or not all(isinstance(text, str) for text in texts.values()):
        return None
    return CascadeEntry(
        **texts,
        trigger_round=number,
        reviewer_tags=items(document, "reviewer_tags", str),
        sentinel_files=items(document, "sentinel_files", str),
        records=whole(document, "records"),
    )


_TEXTS = ("artifact", "rationale", "manifest", "timestamp")


def tells_of(logged: CascadeEntry, wanted: CascadeEntry) -> bool:
    """Whether an entry is about the same approval, whatever its time. Other engines record no
    manifest; this engine writes no entry that names other reviewers."""
    return (
        logged.artifact == wanted.artifact
        and logged.trigger_round == wanted.trigger_round
        and logged.rationale == wanted.rationale
        and set(logged.reviewer_tags) == set(wanted.reviewer_tags)
        and logged.manifest in ("", wanted.manifest)
    )


class Unrecorded(NamedTuple):
    """A step that a cascade approved, and whose approval is not on record yet."""

    facts: Facts  # as seen from that step
    loop: Loop


def unrecorded(facts: Facts) -> Unrecorded | Problem | None:
    """The log alone is not believed: counted now, the round must still approve its step."""
    if FILE not in facts.names:
        return None
    entries = read(facts.tree.read(FILE, LIMIT))
    if isinstance(entries, Problem):
        return entries
    newest = {item.artifact: item for item in entries}
    open_ones = (_of(facts, item) for step, item in newest.items() if step in CASCADING)
    return next(filter(None, open_ones), None)


def _of(facts: Facts, logged: CascadeEntry) -> Unrecorded | None:
    facts = facts._replace(step=logged.artifact)
    if facts.statuses.get(facts.step) != "approved":
        return None  # what is left to do is derived like any other action
    if logged.records is not None and logged.records != _records(facts):
        return None  # the approval was finished, which is the usual case: nothing more is read
    loop = loops.evaluate(
        facts.tree, subject_of(facts.step), facts.config, facts.base, facts.records
    )
    fires = after_round.cascades(facts, loop)
    return Unrecorded(facts, loop) if fires and is_open(facts, logged, entry(facts, loop)) else None


def is_open(facts: Facts, logged: CascadeEntry, wanted: CascadeEntry) -> bool:
    """Whether a killed command wrote this entry, and nothing was decided about the step since."""
    if not tells_of(logged, wanted):
        return False
    if logged.records is None:
        newest = approvals.newest(facts.records, facts.step)
        return newest is None or newest.event != "approve" or newest.round < logged.trigger_round
    return logged.records == wanted.records


def _records(facts: Facts) -> int:
    records = approvals.newest_first(facts.records, approvals.naming(facts.step))
    return sum(record.mark(facts.step) is not None for record in records)


def by_cascade(facts: Facts) -> tuple[str, ...]:
    """The approved steps whose newest record is a cascade's."""
    newest: dict[str, approvals.Record] = {}
    for record in facts.records:
        newest |= {step: record for step in CASCADING if record.mark(step)}
    return tuple(
        step
        for step, record in newest.items()
        if record.surface == SURFACE and facts.statuses.get(step) == "approved"
    )
