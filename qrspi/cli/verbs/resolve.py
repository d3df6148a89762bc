"""`qrspi resolve`: answer the menu that a run stands at."""

from __future__ import annotations

from collections.abc import Sequence

import click

from qrspi import engine
from qrspi.cli.app import Verb
from qrspi.cli.decision_command import Desk, Made, Went
from qrspi.cli.run_words import is_subject
from qrspi.cli.session import Session
from qrspi.cli.verbs import rewind as rewinding
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.core.pipeline import subject
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.menus import menu as resolve
from qrspi.handlers.menus.menu import More
from qrspi.render import decisions as rendered
from qrspi.render.safe_text import one_line

USAGE = "qrspi resolve [RUN] OPTION"


@click.command("resolve", cls=Verb)
@click.argument("words", nargs=-1, metavar="[RUN] OPTION")
@click.option("--to", metavar="STEP", help="Where `rewind` goes.")
@click.option("--yes", is_flag=True, help="Do not ask before a rewind.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session, words: tuple[str, ...], to: str | None, yes: bool, who: str, dry_run: bool
) -> None:
    """Answer the menu that a run stands at; `qrspi status` shows its options."""
    run, about, key = read_words(words)
    desk = Desk(session, session.run(run), "resolve")

    def plan(job: Job) -> Move:
        return resolve.plan(
            resolve.about(job, subject(about) if about else None), key, More(to, who)
        )

    if key == "rewind" and not dry_run:
        command = f"qrspi resolve {desk.run.name} rewind --to {to or 'STEP'}"
        rewinding.confirm_rewind(desk, plan(desk.look()), yes, command)
    made = desk.decide(plan, dry_run=dry_run)
    _answer(desk, made, key)


def read_words(words: Sequence[str]) -> tuple[str | None, str | None, str]:
    """`[RUN] [STEP] OPTION`."""
    match list(words):
        case [key]:
            return None, None, key
        case [about, key] if is_subject(about):
            return None, about, key
        case [run, key]:
            return run, None, key
        case [run, about, key] if is_subject(about):
            return run, about, key
        case _:
            raise Misuse(Problem("usage", f"expected {USAGE}", field="OPTION", hint=USAGE))


def _answer(desk: Desk, made: Made, key: str) -> None:
    """An option that approves a step goes on at once, as `approve` does."""
    goes_on = made.done is not None and made.move.handler == "approve"
    went = desk.go_on() if goes_on else Went(engine.Outcome((), made.state))
    document = rendered.document(
        "resolve",
        desk.run.name,
        made.move,
        made.done,
        went.outcome.state.next,
        option=key,
        **rendered.went_document(went.outcome, went.trouble),
    )
    verb = "Chosen" if made.done else "Would choose"
    lines = [f"{verb}: {one_line(key)}"]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    lines += rendered.went_lines(went.outcome, went.trouble)
    desk.session.answer(document, lines)
