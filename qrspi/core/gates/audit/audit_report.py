"""The report of a plan's audit, and what it means for the plan's approval."""

from __future__ import annotations

import json
from typing import Any, cast

from qrspi.core.config.reader import Config
from qrspi.core.gates.audit import audit
from qrspi.core.gates.audit.audit import Audited, Dimension, Review, Verdict
from qrspi.core.model import Code, Next, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.records import step_text
from qrspi.core.records.json_fields import table
from qrspi.core.tree import Fault, Tree

FILE = "reviews/plan/audit-report.json"
SCHEMA = "qrspi/audit/v1"
LIMIT = 16 * 1024 * 1024

Document = dict[str, Any]


def inputs_sha256(tree: Tree) -> str:
    """Of plan.md and the tasks with their names, without what the engine itself writes there."""
    return step_text.body_hash(tree, subject_of("plan")).removeprefix(step_text.VERSION)


def document(audited: Audited, inputs: str, timestamp: str) -> Document:
    return {
        "schema": SCHEMA,
        "timestamp": timestamp,
        "overall_verdict": audited.verdict,
        "inputs_sha256": inputs,
        "reviews": [_review(review) for review in audited.reviews],
    }


def _review(review: Review) -> Document:
    rejected = review.verdict == "rejected"
    return {
        "id": review.id,
        "total_score": review.total_score,
        "verdict": review.verdict,
        **{dimension.name: _dimension(dimension) for dimension in review.dimensions},
        "suggestions": [] if review.verdict == "approved" else list(review.raises),
        "required_action": _required(review) if rejected else None,
    }


def _dimension(dimension: Dimension) -> Document:
    moves = [{"points": move.points, "because": move.because} for move in dimension.moves]
    return {"score": dimension.score, "findings": list(dimension.findings), "points": moves}


def _required(review: Review) -> str:
    if not review.tasks:
        return f"{review.id}: write its tasks, then audit the plan again"
    first = review.raises[0] if review.raises else "change the plan"
    return f"{review.id}: raise the score to {audit.CONCERNS} or more; first: {first}"


def render(report: Document) -> bytes:
    return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


class Report(NamedTuple):
    """The parts of a stored report that are trusted."""

    verdict: Verdict
    inputs: str
    lines: tuple[str, ...]  # a line for each phase


def read(tree: Tree) -> Report | Problem | None:
    data = tree.read(FILE, LIMIT)
    if isinstance(data, Fault):
        return None if data.kind == "absent" else _bad(f"unreadable ({data.reason})")
    report = load(data)
    if report is None:
        return _bad("no JSON object")
    verdict, inputs = report.get("overall_verdict"), report.get("inputs_sha256")
    if verdict not in ("approved", "concerns", "rejected") or not isinstance(inputs, str):
        return _bad("no audit report")
    return Report(cast(Verdict, verdict), inputs, tuple(_lines(report.get("reviews"))))


def _bad(found: str) -> Problem:
    text = f"{FILE} is {found}, expected a report of `qrspi audit`"
    return Problem("bad-record", text, FILE, found=found, expected="an audit report")


def _lines(reviews: object) -> list[str]:
    listed = reviews if isinstance(reviews, list) else []
    return [line for one in listed if isinstance(one, dict) for line in lines(one)]


_SHOWN = 20


def lines(review: Document) -> list[str]:
    listed = [f"audit of {review.get('id')}: {review.get('verdict')} ({review.get('total_score')})"]
    for name in audit.WEIGHTS:
        part = review.get(name)
        findings = part.get("findings") if isinstance(part, dict) else None
        for text in findings if isinstance(findings, list) else []:
            listed.append(f"{name.replace('_', ' ')}: {text}")
    if review.get("required_action"):
        listed.append(str(review["required_action"]))
    return listed[:_SHOWN]


def load(data: bytes | Fault) -> Document | None:
    return None if isinstance(data, Fault) else table(data)


def same(report: Document, data: bytes | Fault) -> bool:
    """Whether the file already says this, whatever its time is."""
    written = load(data)
    return written is not None and {**written, "timestamp": ""} == {**report, "timestamp": ""}


def is_on(config: Config) -> bool:
    return config.gates is not None and config.gates.audit


def before_approval(tree: Tree, following: Next) -> Next:
    """What comes before the plan is approved: the audit, a person who changes a rejected plan, or
    nothing. In the last case the answer carries what the audit found."""
    report = read(tree)
    if not isinstance(report, Report) or report.inputs != inputs_sha256(tree):
        return _due(tree.name, following.round, _why_due(report))
    if report.verdict == "rejected":
        return _rejected(tree.name, following.round, report)
    return following._replace(because=(*following.because, *report.lines))


def _why_due(report: Report | Problem | None) -> str:
    if isinstance(report, Problem):
        return report.message
    if report is None:
        return f"gates.audit is on and there is no {FILE}"
    return f"{FILE} is about another text"


def _due(run: str, number: int, why: str) -> Next:
    return Next(
        action="approve",
        who="engine",
        summary=f"Audit the plan before anybody is asked to approve it: run `qrspi next {run}`.",
        because=(why,),
        step="plan",
        round=number,
        inputs=("plan.md",),
        command=f"qrspi next {run}",
        kind="audit",
    )


def _rejected(run: str, number: int, report: Report) -> Next:
    return Next(
        action="decide",
        who="human",
        summary=(
            "The audit rejects the plan, which cannot be approved as it is: `qrspi audit "
            f"{run} --explain` says what would raise its score. Change plan.md and its tasks, then "
            f"run `qrspi next {run}`; or send it back with `qrspi reject {run} plan -m TEXT`."
        ),
        because=report.lines,
        step="plan",
        round=number,
        inputs=("plan.md", FILE),
        command=f"qrspi audit {run} --explain",
        kind="audit-rejected",
    )


def _of_verdict(code: Code, text: str, found: str, expected: str, hint: str) -> Problem:
    verdict = "overall_verdict"
    return Problem(code, text, FILE, verdict, found=found, expected=expected, hint=hint)


def objection(
    run: str, computed: Verdict, inputs: str, report: Report | Problem | None
) -> Problem | None:
    """Why the plan cannot be approved. The present count decides, not the report."""
    hint = f"qrspi audit {run}"
    if not isinstance(report, Report) or report.inputs != inputs:
        why = _why_due(report)
        text = f"plan.md cannot be approved before it is audited: {why}"
        return Problem("not-audited", text, FILE, "inputs_sha256", hint=hint)
    if report.verdict != computed:
        counted = f"counted now the plan is {computed}"
        text = f"{FILE} says {report.verdict}, but {counted}: audit it again"
        return _of_verdict("not-audited", text, report.verdict, computed, hint)
    if computed == "rejected":
        text = f"the audit rejects the plan: {report.lines[0] if report.lines else 'its score'}"
        expected = "approved or concerns"
        return _of_verdict("audit-rejected", text, computed, expected, f"{hint} --explain")
    return None
