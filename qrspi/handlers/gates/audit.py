"""Audit the plan: count, write the report, and check it before the plan is approved."""

from __future__ import annotations

from qrspi.core.errors import Refusal
from qrspi.core.gates.audit import audit as audits
from qrspi.core.gates.audit import audit_report
from qrspi.core.gates.audit.audit import Audited
from qrspi.core.gates.audit.audit_report import FILE, Document
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault
from qrspi.handlers.changes import change_set, code_repository
from qrspi.handlers.changes.change_set import ChangeSet, Edit
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.machine import clock


class Counted(NamedTuple):
    audited: Audited
    report: Document


def count(job: Job) -> Counted:
    audited = audits.audit(job.workspace, code_repository.project_tree(job), job.facts.phase)
    inputs = audit_report.inputs_sha256(job.workspace)
    return Counted(audited, audit_report.document(audited, inputs, clock.now_utc()))


def needs_plan(job: Job) -> None:
    if isinstance(found := job.workspace.head("plan.md"), Fault):
        what = "does not exist" if found.kind == "absent" else f"cannot be read ({found.detail})"
        text = f"there is nothing to audit: plan.md {what}"
        hint = f"qrspi status {job.run}"
        raise Refusal(Problem("missing-artifact", text, "plan.md", expected="a plan", hint=hint))


def plan(job: Job) -> ChangeSet:
    """Nothing is written when the report already says the same."""
    counted = count(job)
    known = audit_report.same(counted.report, job.workspace.read(FILE, audit_report.LIMIT))
    data = audit_report.render(counted.report)
    what = f"the audit says {counted.audited.verdict}"
    edits = () if known else (Edit("write", FILE, what, data),)
    move = ChangeSet("audit", "plan", 0, edits, notes=_messages(counted.audited))
    if job.facts.statuses.get("plan") != "approved":
        return move
    return move._replace(message=change_set.message("audit", "plan", job.run), covers=(FILE,))


def _messages(audited: Audited) -> tuple[str, ...]:
    said = (f"{review.id}: {review.verdict} ({review.total_score})" for review in audited.reviews)
    return tuple(f"[reviewer] {text}" for text in (*said, f"plan: {audited.verdict}"))


def handle(job: Job) -> Performed:
    move = plan(job)
    for edit in move.edits:
        change_set.write(job.workspace, edit)
    return Performed("audit", "plan", job.next.round, move.files, move.notes)


def objection(job: Job) -> Problem | None:
    """Why the plan cannot be approved now, whatever a report says."""
    if not audit_report.is_on(job.facts.config):
        return None
    counted = count(job)
    report = audit_report.read(job.workspace)
    inputs = counted.report["inputs_sha256"]
    return audit_report.objection(job.run, counted.audited.verdict, inputs, report)


def is_outdated(job: Job) -> bool:
    return (problem := objection(job)) is not None and problem.code == "not-audited"
