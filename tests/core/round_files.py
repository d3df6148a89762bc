"""Rounds as values, for tests of what happens after the guard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core.filenames import clean_file, finding_file, sidecar_file
from qrspi.core.model import ChangeType, Clean, Finding, Round, Sidecar


def finding(
    number: int = 1,
    kind: ChangeType = "correctness",
    *,
    tag: str = "quality-claude",
    cites: Iterable[str] = ("design.md:L12",),
    counts_as: ChangeType | None = None,
    data: bytes | None = None,
) -> Finding:
    return Finding(
        tag=tag,
        number=number,
        file=finding_file(tag, number),
        finding_id=f"R1-F{number:02d}",
        severity="medium",
        change_type=kind,
        effective_type=counts_as or kind,
        referenced_files=tuple(cites),
        message="The second claim contradicts the first.",
        data=data or f"---\nfinding_id: R1-F{number:02d}\n---\nBody {number}.\n".encode(),
    )


def sidecar(of: Finding, score: int | None, extension: str = "") -> Sidecar:
    file = f"{of.stem}.{extension}" if extension else sidecar_file(of.stem)
    written = "VERIFY_FAILED" if score is None else score
    data = f"score: {written}\nreason: Checked.\n".encode()
    return Sidecar(file, score, "Checked.", data)


def clean(tag: str) -> Clean:
    return Clean(tag, clean_file(tag), f"---\nreviewer: {tag}\n---\n".encode())


def round_of(
    scores: Mapping[Finding, int | None] | Iterable[Finding] = (),
    *,
    cleans: Iterable[Clean] = (),
    sidecars: Iterable[tuple[Finding, Sidecar]] = (),
) -> Round:
    """A mapping gives each finding a sidecar; None is VERIFY_FAILED."""
    scored = scores if isinstance(scores, Mapping) else {}
    made = {one.stem: sidecar(one, score) for one, score in scored.items()}
    return Round(
        number=1,
        findings=tuple(scores),
        sidecars=made | {one.stem: two for one, two in sidecars},
        cleans=tuple(cleans),
        expected_tags=(),
    )
