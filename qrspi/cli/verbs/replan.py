"""`qrspi replan`: between two phases, change the plan or go back to an earlier step."""

from __future__ import annotations

import click

from qrspi.cli.app import VerbGroup
from qrspi.cli.ask_person import confirm
from qrspi.cli.decision_command import Desk, Made, declined, need_yes
from qrspi.cli.session import Session
from qrspi.core.pipeline import STEP
from qrspi.core.steps.replanning import TARGETS
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.decisions import replan
from qrspi.handlers.jobs.job import Job
from qrspi.render import decisions as rendered
from qrspi.render import run_page as states
from qrspi.render.safe_text import one_line


@click.group("replan", cls=VerbGroup)
def command() -> None:
    """A phase is finished and another follows: say how the plan changes.

    RUN may stand before or behind the action word.
    """


@command.command("minor")
@click.argument("run", required=False)
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def minor(session: Session, run: str | None, who: str, dry_run: bool) -> None:
    """Only plan.md and the remaining tasks change. They are opened, and approved again by you;
    then the finished phase is put away and the next begins."""
    desk = Desk(session, session.run(run), "replan minor")
    _answer(desk, "minor", desk.decide(lambda job: replan.minor(job, who), dry_run=dry_run))


@command.command("major")
@click.argument("run", required=False)
@click.option("--to", required=True, metavar="STEP", help=f"One of {', '.join(TARGETS)}.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def major(session: Session, run: str | None, to: str, yes: bool, who: str, dry_run: bool) -> None:
    """An earlier artifact changes: it and every later one return to draft."""
    desk = Desk(session, session.run(run), "replan major")

    def build(job: Job) -> Move:
        return replan.major(job, to, who)

    if not (yes or dry_run):
        _confirm(desk, build(desk.look()), to)
    _answer(desk, "major", desk.decide(build, dry_run=dry_run))


def _confirm(desk: Desk, move: Move, to: str) -> None:
    what = f"{STEP[to].artifact} and {len(move.edits)} changes with it"
    if not desk.session.interactive:
        raise need_yes(what, f"qrspi replan major {desk.run.name} --to {to}")
    for line in rendered.lines(move, None, in_git=desk.workspace.in_git):
        desk.session.note(line)
    if not confirm(f"Confirm replan to {STEP[to].artifact}? (y/n)"):
        raise declined(what)


def _answer(desk: Desk, kind: str, made: Made) -> None:
    answer = made.state.next
    document = rendered.document(f"replan-{kind}", desk.run.name, made.move, made.done, answer)
    verb = "Chosen" if made.done else "Would choose"
    lines = [f"{verb}: {one_line(kind)} replan"]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    desk.session.answer(document, [*lines, "", *states.next_lines(answer)])
