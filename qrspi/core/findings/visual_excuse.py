"""The visual reviewer: when it is expected, and whether what excuses it is to be believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from qrspi.core.findings.violations import listed, shown
from qrspi.core.pipeline import Subject
from qrspi.core.tree import Fault, Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.frontmatter import Front
from qrspi.core.yaml.nodes import Node, Scalar

if TYPE_CHECKING:
    from qrspi.core.config.reader import Config

SkipReason = Literal[
    "visual_fidelity_required_false",
    "missing_visual_fidelity_check",
    "empty_wireframe_paths",
    "empty_screenshot_paths",
]
SKIP_REASONS: tuple[SkipReason, ...] = (
    "visual_fidelity_required_false",
    "missing_visual_fidelity_check",
    "empty_wireframe_paths",
    "empty_screenshot_paths",
)
ENCODINGS = ("literal", "base64")


def is_expected(tree: Tree, subject: Subject, config: Config) -> bool:
    """Whether the task asks for the visual reviewer and the run lets it."""
    if not subject.is_task or config.visual_fidelity_required is not True:
        return False
    head = tree.head(subject.artifact)
    front = None if isinstance(head, Fault) else frontmatter.read(head, subject.artifact)
    return isinstance(front, Front) and not _is_empty(front.fields.get("visual_fidelity_check"))


def _is_empty(node: Node | None) -> bool:
    return node.raw in ("", "~", "null", '""', "''") if isinstance(node, Scalar) else not node


def skip_sentinel(reason: SkipReason, *, path_filtered: bool) -> bytes:
    filtered = "true" if path_filtered else "false"
    return f"---\nskip_reason: {reason}\npath_filtered: {filtered}\n---\n".encode()


def fault_in_skip(data: bytes, *, beside_filtered: bool) -> str | None:
    """What is wrong with a skip sentinel, as a sentence; None when it is to be believed."""
    fields = _fields(data)
    reason = frontmatter.text(fields, "skip_reason")
    if reason not in SKIP_REASONS:
        known = ", ".join(SKIP_REASONS)
        return (
            f"Sentinel file contains {_value(fields, 'skip_reason')}. Recognized values: {known}."
        )
    node = fields.get("path_filtered")
    filtered = isinstance(node, Scalar) and node.raw == "true"
    if beside_filtered and not filtered:
        return "Sentinel file says path_filtered: false beside a record of filtered paths."
    return None


def fault_in_filtered(data: bytes) -> str | None:
    """The same for a record of filtered paths."""
    fields = _fields(data)
    if frontmatter.text(fields, "path_encoding") in ENCODINGS:
        return None
    known = listed(ENCODINGS)
    return f"Path record contains {_value(fields, 'path_encoding')}. Recognized values: {known}."


def _fields(data: bytes) -> Mapping[str, Node]:
    front = frontmatter.read(data)
    return front.fields if isinstance(front, Front) else {}


def _value(fields: Mapping[str, Node], key: str) -> str:
    text = frontmatter.text(fields, key)
    if text:
        return f"unrecognized {key}: value '{shown(text)}'"
    return f"missing {key}: value"


class Bypass(NamedTuple):
    """A file that would have let the reviewer be left out, had it been believed."""

    tag: str
    file: str  # run-relative
    data: bytes
    fault: str

    @property
    def digest(self) -> str:
        return digest(self.data)


def digest(data: bytes) -> str:
    # Imported here: hardly any round has an engine's file, and OpenSSL is slow to load.
    import hashlib

    return hashlib.sha256(data).hexdigest()


def is_recorded(bypass: Bypass, records: list[bytes]) -> bool:
    """One record for each content: the same file is not reported twice."""
    return any(bypass.digest.encode() in record for record in records)


def record(bypass: Bypass, round_number: int, attempt: int) -> tuple[str, bytes]:
    """The name and the bytes of a bypass record, shaped like a finding."""
    lines = (
        "---",
        f"finding_id: R{round_number}-bypass-{attempt:02d}",
        "severity: high",
        "change_type: correctness",
        f"referenced_files: [{bypass.file}]",
        f"round: {round_number}",
        f"reviewer: {bypass.tag}",
        f"sentinel_sha256: {bypass.digest}",
        "---",
        bypass.fault,
        "",
    )
    return f"{bypass.tag}.bypass-attempt-{attempt:02d}.md", "\n".join(lines).encode()
