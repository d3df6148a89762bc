"""Files of a round that only the engine writes: which were not written by it, which excuse a
reviewer, and which look like an attempt to leave one out."""

from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core import reviewers as matrix
from qrspi.core.filenames import EngineName
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.findings.violations import Page
from qrspi.core.findings.visual_excuse import Bypass


class EngineFile(NamedTuple):
    name: str
    kind: EngineName
    data: bytes
    page: Page


class Judgement(NamedTuple):
    excused: frozenset[str] = frozenset()  # tags that were rightly not sent
    doubted: frozenset[str] = frozenset()  # tags whose excuse is not believed
    bypasses: tuple[tuple[str, bytes], ...] = ()  # records still to be written


def judge(
    files: list[EngineFile], recorded: Mapping[str, str] | None, round_number: int
) -> Judgement:
    """`recorded` are the hashes that the round's manifest keeps; None without a manifest."""
    if not files:
        return Judgement()
    own = [file for file in files if _is_own(file, recorded)]
    faults = _faults(files)
    skips = [file for file in files if file.name == f"{matrix.visual_tag()}.skipped.md"]
    believed = [file for file in skips if file in own and file.name not in faults]
    return Judgement(
        excused=frozenset(file.kind.tag for file in believed),
        doubted=frozenset(file.kind.tag for file in skips if file not in believed),
        bypasses=_records(files, own, faults, round_number),
    )


def _is_own(file: EngineFile, recorded: Mapping[str, str] | None) -> bool:
    """Whether the engine wrote it, as far as the round can tell."""
    if recorded is None:
        text = "only the engine writes this file, and the round has no manifest to say that it did"
        file.page.warning("foreign_engine_file", text, found=file.name)
        return True
    if recorded.get(file.name) == visual.digest(file.data):
        return True
    file.page.violation(
        "foreign_engine_file",
        "only the engine writes this file, and the round's manifest does not record it like this",
        found=file.name,
        expected="a file that the round's manifest records",
    )
    return False


def _faults(files: list[EngineFile]) -> dict[str, str]:
    """By file name: why an excuse is not to be believed."""
    tag = matrix.visual_tag()
    by_name = {file.name: file for file in files}
    skip = by_name.get(f"{tag}.skipped.md")
    filtered = by_name.get(f"{tag}.path-filtered.md")
    faults: dict[str, str] = {}
    if skip and (fault := visual.fault_in_skip(skip.data, beside_filtered=filtered is not None)):
        faults[skip.name] = fault
    if filtered and (fault := visual.fault_in_filtered(filtered.data)):
        faults[filtered.name] = fault
    for name, fault in faults.items():
        by_name[name].page.warning("bypass_attempt", fault, found=name)
    return faults


def _records(
    files: list[EngineFile], own: list[EngineFile], faults: Mapping[str, str], round_number: int
) -> tuple[tuple[str, bytes], ...]:
    attempts = [file.kind.number for file in files if file.kind.kind == "bypass-attempt"]
    written = [file.data for file in own if file.kind.kind == "bypass-attempt"]
    bypasses = (
        Bypass(file.kind.tag, file.page.file, file.data, faults[file.name])
        for file in files
        if file.name in faults
    )
    fresh = [bypass for bypass in bypasses if not visual.is_recorded(bypass, written)]
    first = max(attempts, default=0) + 1
    return tuple(visual.record(one, round_number, at) for at, one in enumerate(fresh, first))
