"""`qrspi rewind`: go back to an earlier step."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job


@verb("rewind")
@arguments.run
@click.option("--to", "target", required=True, metavar="STEP", help="The step to go back to.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@arguments.person()
@arguments.dry_run()
def command(
    session: Session, run: str | None, target: str, yes: bool, who: str, dry_run: bool
) -> None:
    """Return a step and every later one that was approved to draft; nothing is deleted."""
    run_words.a_step(target, "qrspi rewind [RUN] --to STEP")
    decision = DecisionCommand(session, "rewind", run)

    def plan(job: Job) -> ChangeSet:
        return rewind.plan(job, target, who)

    if not (yes or dry_run):
        decision.confirm_rewind(
            plan(decision.look()), f"qrspi rewind {decision.run.name} --to {target}"
        )
    decision.answer_rewind(decision.decide(plan, dry_run=dry_run))
