"""`qrspi test`: what somebody who ran the tests by hand says of them."""

from __future__ import annotations

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.model import TestState
from qrspi.handlers.tasks import commands

USAGE = "qrspi test report [RUN] --passed|--failed -m TEXT"


@click.group("test", cls=VerbGroup)
def command() -> None:
    """The tests of the whole: say that you ran them by hand.

    The engine runs gates.test_command by itself. RUN may stand before or after the action word.
    """


@command.action("report")
@arguments.run
@click.option("--passed/--failed", "passed", default=None, help="What came of it.")
@click.option("-m", "--message", default="", metavar="TEXT", help="What was run, and what you saw.")
@arguments.person()
@arguments.dry_run("what would be written")
def report(
    session: Session, run: str | None, passed: bool | None, message: str, who: str, dry_run: bool
) -> None:
    """Record that somebody ran the tests by hand, over what is merged now, and what came of it."""
    words = message.strip()
    if passed is None or not words:
        missing = "-m TEXT" if passed is not None else "--passed or --failed"
        raise run_words.misuse(f"{missing} is needed: {USAGE}", field=missing, hint=USAGE)
    state: TestState = "passed" if passed else "failed"
    decision = DecisionCommand(session, "test report", run)
    made = decision.decide(
        lambda job: commands.report_by_hand(job, state, words, who), dry_run=dry_run
    )
    verb = "Recorded" if made.done else "Would record"
    decision.answer(made, f"{verb}: the tests {state}", state=state)
