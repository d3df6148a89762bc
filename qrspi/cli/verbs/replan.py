"""`qrspi replan`: between two phases, change the plan or go back to an earlier step."""

from __future__ import annotations

import click

from qrspi.cli import arguments
from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import DecisionCommand, Plan
from qrspi.cli.session import Session
from qrspi.core.pipeline import STEP
from qrspi.core.steps.replanning import TARGETS
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import replan
from qrspi.handlers.jobs.job import Job
from qrspi.render import outcomes


@click.group("replan", cls=VerbGroup)
def command() -> None:
    """A phase is finished and another follows: say how the plan changes.

    RUN may stand before or after the action word.
    """


@command.action("minor")
@arguments.run
@arguments.person()
@arguments.dry_run()
def minor(session: Session, run: str | None, who: str, dry_run: bool) -> None:
    """Only plan.md and the remaining tasks change. They are opened, and approved again by you;
    then the finished phase is put away and the next begins."""
    decision = DecisionCommand(session, "replan minor", run)
    _decide(decision, "minor", lambda job: replan.minor(job, who), dry_run)


@command.action("major")
@arguments.run
@click.option("--to", required=True, metavar="STEP", help=f"One of {', '.join(TARGETS)}.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@arguments.person()
@arguments.dry_run()
def major(session: Session, run: str | None, to: str, yes: bool, who: str, dry_run: bool) -> None:
    """An earlier artifact changes: it and every later one return to draft."""
    decision = DecisionCommand(session, "replan major", run)

    def plan(job: Job) -> ChangeSet:
        return replan.major(job, to, who)

    if not (yes or dry_run):
        _confirm(decision, plan(decision.look()), to)
    _decide(decision, "major", plan, dry_run)


def _confirm(decision: DecisionCommand, change: ChangeSet, to: str) -> None:
    artifact = STEP[to].artifact
    what = f"{artifact} and {len(change.edits)} changes with it"
    decision.must_be_asked(what, f"qrspi replan major {decision.run.name} --to {to}")
    decision.session.note(*outcomes.decision_lines(change, None, in_git=decision.workspace.in_git))
    decision.confirm(f"Confirm replan to {artifact}? (y/n)", what)


def _decide(decision: DecisionCommand, kind: str, plan: Plan, dry_run: bool) -> None:
    made = decision.decide(plan, dry_run=dry_run)
    decision.answer(made, f"{'Chosen' if made.done else 'Would choose'}: {kind} replan")
