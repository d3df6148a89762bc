"""The bytes of `round-NN-verified.md` and of `kept-findings.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qrspi.core.findings.triage import tally
from qrspi.core.model import Finding, Round, Sidecar, Triaged


def assemble(round: Round, triaged: Sequence[Triaged], verifier_enabled: str) -> bytes:
    """`verifier_enabled` is the value as it is written in config.md."""
    counts = tally(round, triaged)._asdict()
    numbers = "".join(f"{name}: {count}\n" for name, count in counts.items())
    parts = [f"---\nverifier_enabled: {verifier_enabled}\n{numbers}---\n\n".encode()]
    for finding in sorted(round.findings, key=_place):
        parts += _finding(finding, round.sidecars.get(finding.stem))
    for clean in sorted(round.cleans, key=lambda clean: (clean.tag, clean.file)):
        parts += (_boundary("CLEAN", clean.file.removesuffix(".md")), clean.data)
    return b"".join(parts)


def _place(finding: Finding) -> tuple[str, int, str]:
    return finding.tag, finding.number, finding.file


def _boundary(kind: str, name: str) -> bytes:
    return f"<!-- @@{kind}: {name} @@ -->\n".encode()


def _finding(finding: Finding, sidecar: Sidecar | None) -> Iterator[bytes]:
    yield _boundary("FINDING", finding.stem)
    if finding.escalated:
        yield _boundary("ESCALATED", f"{finding.stem} from {finding.change_type}")
    yield finding.data
    if sidecar:
        # `.score.md` and `.verifier.md` are read too: each loses its last extension.
        yield _boundary("SCORE", sidecar.file.rpartition(".")[0])
        yield sidecar.data


def recorded_verifier(data: bytes) -> str | None:
    """The `verifier_enabled` that a verified file was assembled under."""
    match = re.match(rb"---\nverifier_enabled: ([^\n]*)\n", data)
    return match[1].decode(errors="replace") if match else None


def says_clean(data: bytes) -> bool:
    """Whether nothing was kept when it was assembled."""
    head = data.partition(b"\n---\n")[0]
    return b"\nkept: 0\n" in head + b"\n"


def kept_paths(directory: str, triaged: Iterable[Triaged]) -> tuple[str, ...]:
    """Run-relative paths of the kept findings, in the order of the verified file."""
    findings = (one.finding for one in triaged if one.verdict != "drop")
    return tuple(f"{directory}/{finding.file}" for finding in sorted(findings, key=_place))


def kept_list(paths: Iterable[str]) -> bytes:
    return "".join(f"{path}\n" for path in paths).encode()
