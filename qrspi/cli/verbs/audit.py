"""`qrspi audit`: is the plan ready to be carried out?"""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.gates.audit import audit_report
from qrspi.handlers.changes import change_set
from qrspi.handlers.gates import audit
from qrspi.render.gates import verdicts as rendered

NOT_GOOD = 3  # with --exit-code


@verb("audit")
@arguments.run
@click.option("--explain", is_flag=True, help="How each point came and went.")
@click.option("--exit-code", is_flag=True, help="Exit 3 when the plan is rejected.")
@arguments.dry_run("the verdict", "write no report")
def command(
    session: Session, run: str | None, explain: bool, exit_code: bool, dry_run: bool
) -> None:
    """Count whether the plan is ready: its files, its risk, its completeness. Sends nobody."""
    decision = DecisionCommand(session, "audit", run)
    job = decision.look()
    audit.needs_plan(job)
    report = audit.count(job).report
    if not dry_run:
        with change_set.deciding(decision.workspace, decision.options, "audit") as locked:
            change_set.carry_out(locked, audit.plan(locked))
        kept = decision.workspace.read(audit_report.FILE, audit_report.LIMIT)
        report = audit_report.load(kept) or report
    where = [] if dry_run else [f"  {audit_report.FILE}"]
    session.answer(report, [*rendered.audit_lines(report, explain=explain), "", *where])
    if exit_code and report["overall_verdict"] == "rejected":
        raise click.exceptions.Exit(NOT_GOOD)
