"""Findings of a round, as a document and as a table."""

from __future__ import annotations

from typing import Any

from qrspi.core.findings.lineage import Sighting
from qrspi.core.rounds.findings_view import Shown
from qrspi.render.columns import fitted, table
from qrspi.render.safe_text import one_line

_HEAD = ("FINDING", "SEVERITY", "TYPE", "SCORE", "VERDICT", "SINCE")
_VERDICTS = {"keep": "kept", "drop": "dropped", "pause": "for a person", "propose": "proposed"}


def document(shown: Shown) -> dict[str, Any]:
    finding = shown.item.finding
    return {
        "id": finding.finding_id,
        "tag": finding.tag,
        "file": shown.file,
        "round": shown.round,
        "severity": finding.severity,
        "change_type": finding.change_type,
        "effective_type": finding.effective_type,
        "score": shown.item.score,
        "threshold": shown.threshold,
        "reason": shown.reason or None,
        "verdict": shown.item.verdict,
        "because": shown.item.because,
        "lineage": shown.lineage,
        "lineage_because": shown.course,
        "earlier": _earlier(shown.earlier),
        "referenced_files": list(finding.referenced_files),
        "message": finding.message,
    }


def _earlier(seen: Sighting | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    return {"round": seen.round, "finding": seen.record.name, "fate": seen.record.fate}


def lines(found: tuple[Shown, ...], number: int, width: int) -> list[str]:
    here = [shown for shown in found if shown.lineage != "resolved"]
    gone = [shown for shown in found if shown.lineage == "resolved"]
    if here:
        head, *rows = table(_HEAD, [_row(shown) for shown in here], width)
        pairs = zip(rows, here, strict=True)
        shown = [head, *(line for row, item in pairs for line in (row, *_below(item, width)))]
    else:
        shown = [f"Round {number} has no findings."]
    if gone:
        shown += ["", "No longer found:"]
        shown += [f"  {item.item.finding.name}  {item.course}" for item in gone]
    return shown


def _row(shown: Shown) -> tuple[str, ...]:
    item, finding = shown.item, shown.item.finding
    kind = finding.effective_type + (f" (was {finding.change_type})" if finding.escalated else "")
    score = "-" if item.score is None else str(item.score)
    return (finding.name, finding.severity, kind, score, _VERDICTS[item.verdict], shown.lineage)


def _below(shown: Shown, width: int) -> list[str]:
    """What it says, why the verdict, and what it was before."""
    said = [fitted(f"  {_first_line(shown)}", width), f"  {one_line(shown.item.because)}"]
    return [*said, f"  {one_line(shown.course)}"] if shown.earlier else said


def _first_line(shown: Shown) -> str:
    return one_line(shown.item.finding.message.split("\n")[0])


def dropped_lines(found: tuple[Shown, ...], number: int) -> list[str]:
    """Each with the score, the threshold and what the verifier said."""
    if not found:
        return [f"No finding of round {number} was dropped."]
    shown: list[str] = []
    for item in found:
        finding = item.item.finding
        shown += [
            f"{finding.name}  score {item.item.score}, {item.threshold} needed for "
            f"{finding.effective_type}",
            f"  {_first_line(item)}",
            f"  verifier: {one_line(item.reason or 'gave no reason')}",
        ]
    return shown
