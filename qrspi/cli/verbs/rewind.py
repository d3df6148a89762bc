"""`qrspi rewind`: go back to an earlier step."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.ask_person import confirm
from qrspi.cli.decision_command import Desk, Made, a_step, declined, need_yes
from qrspi.cli.session import Session
from qrspi.core.pipeline import STEP
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.decisions import rewind
from qrspi.handlers.jobs.job import Job
from qrspi.render import decisions as rendered
from qrspi.render import run_page as states


@click.command("rewind", cls=Verb)
@click.argument("run", required=False)
@click.option("--to", "target", required=True, metavar="STEP", help="The step to go back to.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session, run: str | None, target: str, yes: bool, who: str, dry_run: bool
) -> None:
    """Return a step and every later one that was approved to draft; nothing is deleted."""
    step = a_step(target, "qrspi rewind [RUN] --to STEP")
    assert step is not None
    desk = Desk(session, session.run(run), "rewind")

    def plan(job: Job) -> Move:
        return rewind.plan(job, step, who)

    if not dry_run:
        confirm_rewind(desk, plan(desk.look()), yes, f"qrspi rewind {desk.run.name} --to {step}")
    made = desk.decide(plan, dry_run=dry_run)
    answer(desk, made, "rewind")


def confirm_rewind(desk: Desk, move: Move, yes: bool, command: str) -> None:
    """What is reset is listed before it is asked about."""
    artifact = STEP[move.step].artifact
    if yes:
        return
    if not desk.session.interactive:
        listed = ", ".join(move.concerns)
        raise need_yes(f"rewind to {artifact} would return {listed} to draft", command)
    for name in move.concerns:
        desk.session.note(f"  {name} would return to draft")
    if not confirm(f"Confirm rewind to {artifact}? (y/n)"):
        raise declined(f"no rewind to {artifact}")


def answer(desk: Desk, made: Made, verb: str, **more: object) -> None:
    document = rendered.document(
        verb,
        desk.run.name,
        made.move,
        made.done,
        made.state.next,
        **more,
        target=made.move.step,
        resets=list(made.move.concerns),
    )
    desk.session.answer(document, _lines(desk, made))


def _lines(desk: Desk, made: Made) -> list[str]:
    verb = "Back to" if made.done else "Would go back to"
    lines = [f"{verb} {STEP[made.move.step].artifact}."]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    return [*lines, "", *states.next_lines(made.state.next)]
