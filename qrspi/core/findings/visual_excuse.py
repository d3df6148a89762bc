"""The visual reviewer: when it is expected, why it is not sent, and whether a file that excuses it
can be believed. Whoever else but the engine writes an excuse wants to keep the reviewer out."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core import reviewers
from qrspi.core.findings.round_files import EngineFile, Judgement
from qrspi.core.findings.submission import listed, shown
from qrspi.core.hints import TYPE_CHECKING, Literal, get_args
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Tree
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node, Scalar

if TYPE_CHECKING:
    from qrspi.core.artifacts.task_file import VisualCheck
    from qrspi.core.config.reader import Config
    from qrspi.core.pipeline import Subject

SkipReason = Literal[
    "visual_fidelity_required_false",
    "missing_visual_fidelity_check",
    "empty_wireframe_paths",
    "empty_screenshot_paths",
]
SKIP_REASONS: tuple[str, ...] = get_args(SkipReason)
ENCODINGS = ("literal", "base64")


def is_expected(tree: Tree, subject: Subject, config: Config) -> bool:
    if not subject.is_task or config.visual_fidelity_required is not True:
        return False
    fields = frontmatter.fields(tree.head(subject.artifact))
    return not _is_empty(fields.get("visual_fidelity_check"))


def _is_empty(node: Node | None) -> bool:
    return node.raw in ("", "~", "null", '""', "''") if isinstance(node, Scalar) else not node


def skip_sentinel(reason: SkipReason, *, path_filtered: bool) -> bytes:
    filtered = "true" if path_filtered else "false"
    return f"---\nskip_reason: {reason}\npath_filtered: {filtered}\n---\n".encode()


def fault_in_skip(data: bytes, *, beside_filtered: bool) -> str | None:
    """A sentence; None when the sentinel can be believed."""
    fields = frontmatter.fields(data)
    reason = frontmatter.text(fields, "skip_reason")
    if reason not in SKIP_REASONS:
        value, known = _value(fields, "skip_reason"), ", ".join(SKIP_REASONS)
        return f"Sentinel file contains {value}. Recognized values: {known}."
    node = fields.get("path_filtered")
    filtered = isinstance(node, Scalar) and node.raw == "true"
    if beside_filtered and not filtered:
        return "Sentinel file says path_filtered: false beside a record of filtered paths."
    return None


def fault_in_filtered(data: bytes) -> str | None:
    fields = frontmatter.fields(data)
    if frontmatter.text(fields, "path_encoding") in ENCODINGS:
        return None
    known = listed(ENCODINGS)
    return f"Path record contains {_value(fields, 'path_encoding')}. Recognized values: {known}."


def _value(fields: Mapping[str, Node], key: str) -> str:
    text = frontmatter.text(fields, key)
    if text:
        return f"unrecognized {key}: value '{shown(text)}'"
    return f"missing {key}: value"


def digest(data: bytes) -> str:
    # Imported here: hardly any round has an engine's file, and OpenSSL is slow to load.
    from qrspi.core.digest import sha256

    return sha256(data).hexdigest()


def _record(file: EngineFile, fault: str, round_number: int, attempt: int) -> tuple[str, bytes]:
    """The name and the bytes of a record, shaped like a finding, of a file that would have kept the
    reviewer out if the engine had believed it."""
    tag = file.kind.tag
    lines = (
        "---",
        f"finding_id: R{round_number}-bypass-{attempt:02d}",
        "severity: high",
        "change_type: correctness",
        f"referenced_files: [{file.page.file}]",
        f"round: {round_number}",
        f"reviewer: {tag}",
        f"sentinel_sha256: {digest(file.data)}",
        "---",
        fault,
        "",
    )
    return f"{tag}.bypass-attempt-{attempt:02d}.md", "\n".join(lines).encode()


class Dropped(NamedTuple):
    path: str
    reason: str


class Sifted(NamedTuple):
    wireframes: tuple[str, ...] = ()
    screenshots: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def skip_reason(required: bool, check: VisualCheck | None, sifted: Sifted) -> SkipReason | None:
    """None when the reviewer is sent."""
    if not required:
        return "visual_fidelity_required_false"
    if check is None:
        return "missing_visual_fidelity_check"
    if not sifted.wireframes:
        return "empty_wireframe_paths"
    return None if sifted.screenshots else "empty_screenshot_paths"


def engine_files(why: SkipReason | None, sifted: Sifted) -> Mapping[str, bytes]:
    tag = reviewers.visual_tag()
    filtered = bool(sifted.dropped)
    files = {}
    if filtered:
        files[f"{tag}.path-filtered.md"] = path_record(sifted.dropped)
    if why:
        files[f"{tag}.skipped.md"] = skip_sentinel(why, path_filtered=filtered)
    return files


def path_record(dropped: tuple[Dropped, ...]) -> bytes:
    """Every dropped path with its reason. If one path could close the markers, all are written as
    base64, since the record has one encoding."""
    import base64

    from qrspi.core.text import untrusted_markers

    encoded = any(untrusted_markers.has_marker(item.path) for item in dropped)
    parts = [f"---\npath_encoding: {'base64' if encoded else 'literal'}\n---\n".encode()]
    for at, item in enumerate(dropped, 1):
        path = item.path.encode("utf-8", "backslashreplace")
        shown = base64.b64encode(path) if encoded else path
        wrapped = untrusted_markers.wrap(shown, f"path-{at:02d}", "UNTRUSTED-PATH")
        parts.append(f"\n{at}. {item.reason}\n\n".encode() + wrapped)
    return b"".join(parts)


def judge(
    files: list[EngineFile], recorded: Mapping[str, str] | None, round_number: int
) -> Judgement:
    """`recorded` are the hashes that the round's manifest keeps; None without a manifest."""
    own = [file for file in files if _is_own(file, recorded)]
    faults = _faults(files)
    skips = [file for file in files if file.name == f"{reviewers.visual_tag()}.skipped.md"]
    believed = [file for file in skips if file in own and file.name not in faults]
    return Judgement(
        excused=frozenset(file.kind.tag for file in believed),
        doubted=frozenset(file.kind.tag for file in skips if file not in believed),
        bypasses=_records(files, own, faults, round_number),
    )


def _is_own(file: EngineFile, recorded: Mapping[str, str] | None) -> bool:
    if recorded is None:
        text = "only the engine writes this file, and the round has no manifest to say that it did"
        file.page.warning("foreign_engine_file", text, found=file.name)
        return True
    if recorded.get(file.name) == digest(file.data):
        return True
    text = "only the engine writes this file, and the round's manifest does not record it like this"
    expected = "a file that the round's manifest records"
    file.page.violation("foreign_engine_file", text, found=file.name, expected=expected)
    return False


def _faults(files: list[EngineFile]) -> dict[str, str]:
    tag = reviewers.visual_tag()
    by_name = {file.name: file for file in files}
    skip = by_name.get(f"{tag}.skipped.md")
    filtered = by_name.get(f"{tag}.path-filtered.md")
    faults: dict[str, str] = {}
    beside = filtered is not None
    if skip and (fault := fault_in_skip(skip.data, beside_filtered=beside)):
        faults[skip.name] = fault
    if filtered and (fault := fault_in_filtered(filtered.data)):
        faults[filtered.name] = fault
    for name, fault in faults.items():
        by_name[name].page.warning("bypass_attempt", fault, found=name)
    return faults


def _records(
    files: list[EngineFile], own: list[EngineFile], faults: Mapping[str, str], round_number: int
) -> tuple[tuple[str, bytes], ...]:
    attempts = [file.kind.number for file in files if file.kind.kind == "bypass-attempt"]
    written = [file.data for file in own if file.kind.kind == "bypass-attempt"]
    hashes = {file: digest(file.data).encode() for file in files if file.name in faults}
    # One record for each content, so the same file is not reported twice.
    fresh = [file for file, known in hashes.items() if not any(known in one for one in written)]
    numbered = enumerate(fresh, max(attempts, default=0) + 1)
    return tuple(_record(one, faults[one.name], round_number, at) for at, one in numbered)
