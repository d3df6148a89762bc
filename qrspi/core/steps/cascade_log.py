"""The log of steps that a quick run approved by itself: cascade-audit.log, one object a line.

An entry is written before anything is approved. It also keeps what tells the entry of a command
that was killed half way from any other: the hash of the round's manifest, since rounds count from
01 again in a new phase, and how many records there were of the step, since order is not told by
clocks.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from qrspi.core import reviewers as matrix
from qrspi.core.config.reader import Config
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps import after_round as gate
from qrspi.core.tree import Fault

FILE = "cascade-audit.log"
LIMIT = 64 * 1024 * 1024
EVENT = "cascade-auto-approve"
SURFACE = "cascade"


class Entry(NamedTuple):
    artifact: str  # the step's name
    trigger_round: int
    rationale: str
    reviewer_tags: tuple[str, ...]
    sentinel_files: tuple[str, ...] = ()  # run-relative
    manifest: str = ""  # sha256
    records: int | None = None  # of the step, in approvals.jsonl, when it was written
    timestamp: str = ""


def entry(loop: Loop, config: Config, base: int) -> Entry:
    """What is to be put on record of a clean round, from what was just read of it."""
    assert loop.round is not None
    wrote = {finding.tag for finding in loop.round.findings}
    wrote |= {clean.tag for clean in loop.round.cleans}
    tags = dict.fromkeys((*matrix.expected_tags(loop.subject, config), *sorted(wrote)))
    return Entry(
        loop.subject.key,
        loop.number,
        gate.rationale(loop.number, base),
        tuple(tags),
        tuple(f"{loop.paths.directory}/{clean.file}" for clean in loop.round.cleans),
    )


def render(entry: Entry) -> dict[str, Any]:
    return {
        "event": EVENT,
        "artifact": entry.artifact,
        "timestamp": entry.timestamp,
        "trigger_round": entry.trigger_round,
        "rationale": entry.rationale,
        "reviewer_tags": list(entry.reviewer_tags),
        "sentinel_files": list(entry.sentinel_files),
        "manifest": entry.manifest,
        "records": entry.records,
    }


def sentinel(entry: Entry, tag: str) -> bytes:
    text = (
        f"---\nartifact: {entry.artifact}\nround: {entry.trigger_round}\nreviewer: {tag}\n"
        "kept: 0\n---\n"
    )
    return text.encode()


def read(content: bytes | Fault) -> tuple[Entry, ...]:
    """Every well-formed entry in order. A torn or foreign line says nothing."""
    if isinstance(content, Fault):
        return ()
    return tuple(entry for line in content.split(b"\n") if (entry := _line(line)))


def _line(line: bytes) -> Entry | None:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("event") != EVENT:
        return None
    number, tags = document.get("trigger_round"), _strings(document.get("reviewer_tags"))
    texts = [document.get(key, "") for key in ("artifact", "rationale", "manifest", "timestamp")]
    if type(number) is not int or not all(isinstance(text, str) for text in texts):
        return None
    artifact, rationale, manifest, timestamp = texts
    files, records = _strings(document.get("sentinel_files")), document.get("records")
    known = records if type(records) is int else None
    return Entry(artifact, number, rationale, tags, files, manifest, known, timestamp)


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def tells_of(found: Entry, wanted: Entry) -> bool:
    """Whether an entry is about the same approval, whenever it was written. One of another
    engine keeps no manifest. One that names other reviewers is not what this engine would say."""
    return (
        found[:3] == wanted[:3]
        and set(found.reviewer_tags) == set(wanted.reviewer_tags)
        and found.manifest in ("", wanted.manifest)
    )
