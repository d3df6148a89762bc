"""What the audit has to say before a plan is approved."""

from __future__ import annotations

from qrspi.core.config.reader import Config
from qrspi.core.gates.audit import audit_report
from qrspi.core.gates.audit.audit_report import Report
from qrspi.core.gates.audit.audit_score import Verdict
from qrspi.core.model import Next, Problem
from qrspi.core.tree import Tree


def is_on(config: Config) -> bool:
    return config.gates is not None and config.gates.audit


def before_approval(tree: Tree, answer: Next) -> Next:
    """What comes before the plan is approved: the audit, a person who changes a rejected plan, or
    nothing; then the answer carries what the audit found."""
    found = audit_report.read(tree)
    if not isinstance(found, Report) or found.inputs != audit_report.inputs_sha256(tree):
        return _due(tree.name, answer.round, _why_due(found))
    if found.verdict == "rejected":
        return _rejected(tree.name, answer.round, found)
    return answer._replace(because=(*answer.because, *found.lines))


def _why_due(found: Report | Problem | None) -> str:
    if isinstance(found, Problem):
        return found.message
    if found is None:
        return f"gates.audit is on and there is no {audit_report.FILE}"
    return f"{audit_report.FILE} is about another text"


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


def _rejected(run: str, number: int, found: Report) -> Next:
    return Next(
        action="decide",
        who="human",
        summary=(
            "The audit rejects the plan, which cannot be approved as it is: `qrspi audit "
            f"{run} --explain` says what would raise its score. Change plan.md and its tasks, then "
            f"run `qrspi next {run}`; or send it back with `qrspi reject {run} plan -m TEXT`."
        ),
        because=found.lines,
        step="plan",
        round=number,
        inputs=("plan.md", audit_report.FILE),
        command=f"qrspi audit {run} --explain",
        kind="audit-rejected",
    )


def objection(
    run: str, computed: Verdict, inputs: str, found: Report | Problem | None
) -> Problem | None:
    """Why the plan cannot be approved. What was counted just now is what counts."""
    hint = f"qrspi audit {run}"
    if not isinstance(found, Report) or found.inputs != inputs:
        why = _why_due(found)
        text = f"plan.md cannot be approved before it is audited: {why}"
        return Problem("not-audited", text, audit_report.FILE, "inputs_sha256", hint=hint)
    if found.verdict != computed:
        text = (
            f"{audit_report.FILE} says {found.verdict}, but counted now the plan is {computed}: "
            "audit it again"
        )
        return Problem(
            "not-audited", text, audit_report.FILE, "overall_verdict", found.verdict, computed, hint
        )
    if computed == "rejected":
        text = f"the audit rejects the plan: {found.lines[0] if found.lines else 'its score'}"
        return Problem(
            "audit-rejected",
            text,
            audit_report.FILE,
            "overall_verdict",
            computed,
            "approved or concerns",
            f"{hint} --explain",
        )
    return None
