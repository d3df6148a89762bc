"""`qrspi approve`: say yes to a step, and go on at once."""

from __future__ import annotations

from typing import NoReturn

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import TEST_COMMAND, Session
from qrspi.core.steps.review_action import AGAIN
from qrspi.handlers.decisions import approve
from qrspi.handlers.decisions.approve import Consent
from qrspi.handlers.menus import menu
from qrspi.handlers.menus.menu import More
from qrspi.handlers.runs import change_config
from qrspi.handlers.runs import consent as allowing
from qrspi.render.terminal import one_line

USAGE = "qrspi approve [RUN] [STEP]"


@verb("approve")
@arguments.words("[RUN] [STEP]")
@click.option("--unreviewed", is_flag=True, help="Also when no review passed clean.")
@arguments.failing
@arguments.reason
@arguments.text
@click.option("--yes", is_flag=True, help="Ask nothing. Does not stand in for --unreviewed.")
@arguments.person("yes")
@arguments.dry_run()
def command(
    session: Session,
    words: tuple[str, ...],
    unreviewed: bool,
    failing: bool,
    reason: str,
    text: str,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Say yes to a step, the current one unless STEP is given, and go on at once."""
    run, word = run_words.run_and_step(words, USAGE)
    decision = DecisionCommand(session, "approve", run, run_words.a_step(word, USAGE))
    why = run_words.reason_to_ship(failing, reason, USAGE)
    consent = Consent(who, unreviewed, reason=why, text=text)
    if session.interactive and not (unreviewed or failing or yes or dry_run):
        consent = _asked(decision, word, consent)
    if session.interactive and not (yes or dry_run):
        _ask_for_tests(decision, word, consent)
    with decision.deciding(dry_run=dry_run) as job:
        step = consent.shown.step if consent.shown else approve.step_of(job, word)
        shown = approve.standing(job, step)
        made = decision.make(job, approve.plan_for(job, shown, consent))
    verb = "Approved" if made.done else "Would approve"
    head = f"{verb} {shown.artifact}. {one_line(shown.sentence)}."
    details = {"artifact": shown.artifact, "review": shown.review, "clean": shown.clean}
    decision.answer_and_go_on(made, head, **details)


def _ask_for_tests(decision: DecisionCommand, word: str | None, consent: Consent) -> None:
    """A person says at the latest with the plan what will run the tests of the result."""
    job = decision.look()
    step = approve.step_of(job, word)
    if step != "plan" or job.facts.config.said_of_tests:
        return
    approve.plan(job, step, consent)  # what is refused is not asked about
    said = decision.session.ask(TEST_COMMAND)
    if said:
        key = "gates.test_command"
        change, timeout = change_config.setting((key, said)), decision.session.lock_timeout
        edit = change_config.perform(decision.workspace, "config set", change, timeout)
        decision.session.note(*allowing.allow_settings(job.project, [key], edit.before, edit.after))


def _asked(decision: DecisionCommand, word: str | None, consent: Consent) -> Consent:
    """A person who approves a text that no review passed is told so first."""
    job = decision.look()
    shown = approve.standing(job, approve.step_of(job, word))
    if shown.clean or shown.settled:
        return consent
    consent = consent._replace(shown=shown)
    approve.plan_for(job, shown, consent)  # what is refused is not asked about
    decision.session.note(*job.next.care)
    question = f"{shown.sentence}. Approve {shown.artifact} all the same?"
    if AGAIN.key not in (option.key for option in job.next.options):
        decision.confirm(f"{question} (y/n)", f"{shown.artifact} is not approved")
    elif decision.session.choose(question, (f"No: {AGAIN.label}", "Yes: approve it as it is")) == 0:
        _review_again(decision, consent.who)
    return consent


def _review_again(decision: DecisionCommand, who: str) -> NoReturn:
    made = decision.decide(lambda job: menu.plan(job, AGAIN.key, More(who=who)), dry_run=False)
    decision.answer(made, f"Not approved. Chosen: {AGAIN.key}")
    raise click.exceptions.Exit(0)
