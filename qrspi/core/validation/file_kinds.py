"""What a path inside a run stands for. Only the last parts of the path decide, so the file may be
named from anywhere."""

from __future__ import annotations

from qrspi.core.filenames import (
    ANCHOR,
    DISPOSITIONS,
    SCOPE_SET,
    CleanName,
    EngineName,
    FindingName,
    SidecarName,
    Unknown,
    fix_round,
    parse_round_file,
    paused_round,
    round_number,
    task_file_key,
)
from qrspi.core.hints import Literal
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS, Subject, subject

Kind = Literal[
    "config",
    "artifact",
    "companion",
    "task",
    "parallelization",
    "finding",
    "clean",
    "sidecar",
    "manifest",
    "scope-set",
    "dispositions",
    "anchor",
    "pause",
    "loop-choice",
    "log",
    "unknown",  # in a round, where nobody reads it
    "other",
]


class FileKind(NamedTuple):
    kind: Kind
    subject: Subject | None = None  # the subject of its round, where the path tells
    number: int = 0  # the number of its round; 0 where the path does not tell
    name: FindingName | CleanName | SidecarName | None = None


_BESIDE: dict[str, Kind] = {SCOPE_SET: "scope-set", DISPOSITIONS: "dispositions", ANCHOR: "anchor"}
_SINGLE: dict[str, Kind] = {
    "config.md": "config",
    "parallelization.md": "parallelization",
    "approvals.jsonl": "log",
    "audit.jsonl": "log",
    "spend.jsonl": "log",
    "roadmap.md": "companion",
    **{step.artifact: "artifact" for step in STEPS if step.artifact != "parallelization.md"},
}


def kind_of(path: str) -> FileKind:
    parts = path.split("/")
    name = parts[-1]
    parent = parts[-2] if len(parts) > 1 else ""
    single = _SINGLE.get(name) or _SINGLE.get(f"{parent}/{name}")
    if single:
        return FileKind(single)
    return _in_reviews(parts, name) or FileKind(_by_folder(parts, parent, name))


def _by_folder(parts: list[str], parent: str, name: str) -> Kind:
    if not name.endswith(".md"):
        return "other"
    is_repair = fix_round(parent) is not None and parts[-4:-2] != ["reviews", "tasks"]
    if (parent == "tasks" and task_file_key(name)) or is_repair:
        return "task"
    research = parent == "research" and name.startswith("q")
    return "companion" if research or name.startswith("future-") else "other"


def _in_reviews(parts: list[str], name: str) -> FileKind | None:
    if number := round_number(parts[-2]) if len(parts) > 1 else None:
        return _in_round(name, _reviewed(parts[:-2]), number)
    if paused := paused_round(name):
        return FileKind("pause", subject(paused[0]), paused[1])
    for suffix, kind in _BESIDE.items():
        if number := round_number(name.removesuffix(suffix)) if name.endswith(suffix) else None:
            return FileKind(kind, _reviewed(parts[:-1]), number)
    if name == "loop.md" and _reviewed(parts[:-1]):
        return FileKind("loop-choice")
    return _in_round(name, None, 0)


def _in_round(name: str, reviewed: Subject | None, number: int) -> FileKind | None:
    match parse_round_file(name):
        case FindingName() as known:
            return FileKind("finding", reviewed, number, known)
        case CleanName() as known:
            return FileKind("clean", reviewed, number, known)
        case SidecarName() as known:
            return FileKind("sidecar", reviewed, number, known)
        case EngineName(kind="manifest"):
            return FileKind("manifest", reviewed, number)
        case Unknown() if reviewed and number:
            return FileKind("unknown", reviewed, number)
        case _:
            return FileKind("other", reviewed, number) if number else None


def _reviewed(parts: list[str]) -> Subject | None:
    """Two subjects share `reviews/integration`; for a file by itself either will do."""
    match parts:
        case [*_, "reviews", "tasks", key]:
            return subject(key)
        case [*_, "reviews", "tasks", fixes, name]:
            return subject(f"{fixes}/{name}")
        case [*_, "reviews", "integration"]:
            return subject("integrate")
        case [*_, "reviews", step]:
            return subject(step)
        case _:
            return None
