"""`qrspi approve`: say yes to a step, and go on at once."""

from __future__ import annotations

import click

from qrspi import engine
from qrspi.cli import run_words as words
from qrspi.cli.app import Verb
from qrspi.cli.ask_person import confirm
from qrspi.cli.decision_command import Desk, Made, Went, a_step, declined
from qrspi.cli.session import Session
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent, Standing
from qrspi.handlers.jobs.job import Job
from qrspi.render import decisions as rendered
from qrspi.render.safe_text import one_line

USAGE = "qrspi approve [RUN] [STEP]"


@click.command("approve", cls=Verb)
@click.argument("run_and_step", nargs=-1, metavar="[RUN] [STEP]")
@click.option("--unreviewed", is_flag=True, help="Also when no review passed clean.")
@click.option("--yes", is_flag=True, help="Ask nothing. Does not stand in for --unreviewed.")
@click.option(
    "--as", "who", default="", metavar="NAME", help="Who says yes; else as git knows you."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session,
    run_and_step: tuple[str, ...],
    unreviewed: bool,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Say yes to a step, the current one unless STEP is given, and go on at once."""
    run, word = words.run_and_step(run_and_step, USAGE)
    desk = Desk(session, session.run_for(run, a_step(word, USAGE)), "approve")
    job = desk.look()
    step = approve.step_of(job, word)
    shown = approve.standing(job, step)
    consent = Consent(who, unreviewed)
    if session.interactive and not (shown.clean or unreviewed or yes or dry_run):
        approve.plan(job, step, consent._replace(shown=shown))  # what is refused is not asked
        consent = consent._replace(shown=_asked(shown))
    made = desk.decide(lambda job: _plan(job, step, consent), dry_run=dry_run)
    _answer(desk, made, shown)


def _plan(job: Job, step: str, consent: Consent) -> Move:
    return approve.plan(job, step, consent)


def _asked(shown: Standing) -> Standing:
    if not confirm(f"{shown.sentence}. Approve {shown.artifact} all the same? (y/n)"):
        raise declined(f"{shown.artifact} is not approved")
    return shown


def _answer(desk: Desk, made: Made, shown: Standing) -> None:
    went = desk.go_on() if made.done else Went(engine.Outcome((), made.state))
    document = rendered.document(
        "approve",
        desk.run.name,
        made.move,
        made.done,
        went.outcome.state.next,
        artifact=shown.artifact,
        review=shown.review,
        clean=shown.clean,
        **rendered.went_document(went.outcome, went.trouble),
    )
    verb = "Approved" if made.done else "Would approve"
    lines = [f"{verb} {shown.artifact}. {one_line(shown.sentence)}."]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    lines += rendered.went_lines(went.outcome, went.trouble)
    desk.session.answer(document, lines)
