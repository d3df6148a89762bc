"""Verdicts about tasks and plans, as documents and as lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qrspi.core.gates.audit.audit import WEIGHTS
from qrspi.core.gates.quality.judgement import Judgement
from qrspi.core.gates.quality.quality_gate import TaskVerdict
from qrspi.core.model import Problem
from qrspi.render.terminal import one_line, table


def judgement_document(judgement: Judgement, unwritten: Problem | None = None) -> dict[str, Any]:
    return {
        "task": judgement.task,
        "verdict": judgement.verdict,
        "verdict_string": judgement.verdict_string,
        "hash": judgement.hash,
        "cached_at": judgement.cached_at,
        "suppressed_until": judgement.suppressed_until,
        "per_axis": dict(judgement.per_axis) if judgement.per_axis is not None else None,
        "gaps": list(judgement.gaps),
        "fixes": list(judgement.fixes),
        "findings_block": judgement.block,
        "warnings": list(judgement.warnings),
        "source": judgement.source,
        "claim": judgement.is_claim,
        "because": judgement.because,
        "not_written": unwritten.message if unwritten else None,
    }


def judgement_lines(found: Judgement, unwritten: Problem | None = None) -> list[str]:
    lines = [f"{found.task}: {found.verdict} ({found.because})"]
    for axis, mark in (found.per_axis or {}).items():
        lines.append(f"  {axis.replace('_', ' '):<15} {mark}")
    lines += [f"  gap: {gap}" for gap in found.gaps]
    lines += [f"  fix: {fix}" for fix in found.fixes]
    lines += [f"  warning: {text}" for text in found.warnings]
    if found.suppressed_until:
        lines.append(f"  not asked again before {found.suppressed_until}; `quality clear` lifts it")
    if unwritten:
        lines.append(f"  not written: {unwritten.message}; the next call tries again")
    return [one_line(line) for line in lines]


def debt_document(standing: TaskVerdict) -> dict[str, Any]:
    return {
        "task": standing.task,
        "verdict": standing.verdict,
        "because": standing.debt,
        "let_through": standing.let_through,
        "why": standing.because,
    }


def debt_lines(debts: Iterable[TaskVerdict], width: int) -> list[str]:
    rows = [(one.task, one.verdict, one.debt or "", _why(one)) for one in debts]
    if not rows:
        return ["Every task has a PASS for its text as it is."]
    return table(("TASK", "VERDICT", "DEBT", "WHY"), rows, width)


def _why(standing: TaskVerdict) -> str:
    why = standing.because.removeprefix(f"{standing.task}: ")
    return f"{why}; a person let it through" if standing.let_through else why


_OVERALL = {
    "approved": "The audit approves the plan.",
    "concerns": "The audit has concerns about the plan, which block nothing.",
    "rejected": "The audit rejects the plan.",
}


def audit_lines(report: dict[str, Any], *, explain: bool) -> list[str]:
    lines = [_OVERALL[report["overall_verdict"]]]
    for review in report["reviews"]:
        lines += ["", *_review_lines(review, explain)]
    return [one_line(line) for line in lines]


def _review_lines(review: dict[str, Any], explain: bool) -> list[str]:
    lines = [f"{review['id']}: {review['verdict']}, {review['total_score']} of 100"]
    for name, weight in WEIGHTS.items():
        part = review[name]
        lines.append(f"  {name.replace('_', ' ')}: {part['score']} (weighs {weight * 10} %)")
        moves = part["points"] if explain else ()
        lines += [f"    {move['points']:+4d}  {move['because']}" for move in moves]
        told_once = {move["because"] for move in moves}
        lines += [f"    - {text}" for text in part["findings"] if text not in told_once]
    if explain:
        lines.append(f"  {_sum(review)}")
    lines += [f"  would raise it: {text}" for text in review["suggestions"]]
    return lines + ([f"  needed: {review['required_action']}"] if review["required_action"] else [])


def _sum(review: dict[str, Any]) -> str:
    parts = " + ".join(f"0.{weight}·{review[name]['score']}" for name, weight in WEIGHTS.items())
    exact = sum(weight * review[name]["score"] for name, weight in WEIGHTS.items()) / 10
    return f"{parts} = {exact:g}, rounded to {review['total_score']}"
