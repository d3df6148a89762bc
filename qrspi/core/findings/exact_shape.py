"""Findings and scores in exactly the shape that reviewers are told to write, read at a glance.

A round may have a thousand files, and nearly all match. The careful readers would make the same
record of them and note nothing; whatever else there is, even fields in another order, is theirs.
"""

from __future__ import annotations

import re

from qrspi.core.filenames import TAG, FindingName, SidecarName
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Finding, Sidecar

if TYPE_CHECKING:
    from qrspi.core.findings.submission import Submission

_CITED = r"[A-Za-z0-9_./][A-Za-z0-9_./-]*:L?[0-9]{1,9}(?:-L?[0-9]{1,9})?"
_MODEL = r"(?:actual_model: ([A-Za-z0-9][A-Za-z0-9._/-]*)\n)?"
_FINDING = (
    r"---\nfinding_id: (R([0-9]{1,6})-F[0-9]{1,6})\nseverity: (low|medium|high)\n"
    r"change_type: (style|clarity|correctness|scope|intent)\n"
    rf"referenced_files: \[({_CITED}(?:, {_CITED})*)\]\n"
    rf"artifact: ([a-z][a-z0-9-]*)\nround: ([0-9]{{1,6}})\nreviewer: ({TAG})\n{_MODEL}---\n"
)
_VERIFIER = _MODEL.replace("actual_model", "verified_by")
_SIDECAR = rf"score: ([0-9]{{1,3}}|VERIFY_FAILED)\nreason: ([A-Za-z][^\n:#]*)\n{_MODEL}{_VERIFIER}"


def finding(submission: Submission, name: FindingName) -> Finding | None:
    text = submission.text
    match = re.match(_FINDING, text)
    if not match or match.end() > 4096:
        return None
    fields: tuple[Any, ...] = match.groups()
    finding_id, of_round, severity, kind, cited, artifact, number, reviewer, model = fields
    subject, here = submission.place.subject, str(submission.place.number)
    as_told = of_round == here == number and reviewer == name.tag
    if (
        not as_told
        or finding_id != f"R{here}-F{name.number:02d}"
        or artifact not in (subject.key, subject.step)
    ):
        return None
    message = text[match.end() :].strip()
    # A second id or a feedback file may change what the finding is, so the careful reader decides.
    if not message or text.find("\nfinding", 4) > 0 or "\nid" in text or "feedback/" in text:
        return None
    return Finding(
        tag=name.tag,
        number=name.number,
        file=submission.name,
        finding_id=finding_id,
        severity=severity,
        change_type=kind,
        effective_type=kind,
        referenced_files=tuple(cited.split(", ")),
        message=message,
        data=submission.data,
        actual_model=model or "",
    )


def sidecar(submission: Submission, name: SidecarName) -> Sidecar | None:
    match = re.fullmatch(_SIDECAR, submission.text) if name.extension == "score.yml" else None
    if not match:
        return None
    score, reason, model, verifier = match.groups()
    if not reason.isprintable() or (score != "VERIFY_FAILED" and int(score) > 100):
        return None
    return Sidecar(
        file=submission.name,
        score=None if score == "VERIFY_FAILED" else int(score),
        reason=" ".join(reason.split()),
        data=submission.data,
        actual_model=model or "unknown",
        verified_by=verifier or "",
    )
