"""`qrspi unapprove`: take the yes to one step back."""

from __future__ import annotations

import click

from qrspi.cli import run_words as words
from qrspi.cli.app import Verb
from qrspi.cli.decision_command import Desk, Made, a_step
from qrspi.cli.session import Session
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.steps import permits
from qrspi.core.steps.facts import Facts
from qrspi.handlers.decisions import unapprove
from qrspi.render import decisions as rendered
from qrspi.render import run_page as states

USAGE = "qrspi unapprove [RUN] STEP"


@click.command("unapprove", cls=Verb)
@click.argument("run_and_step", nargs=-1, metavar="[RUN] STEP")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(session: Session, run_and_step: tuple[str, ...], who: str, dry_run: bool) -> None:
    """Return one artifact to draft and list what was built on it; nothing else is reset."""
    run, word = words.run_and_step(run_and_step, USAGE)
    step = a_step(word, USAGE)
    if step is None:
        text = "say which step is not approved any more"
        raise Misuse(Problem("usage", text, field="STEP", hint=USAGE))
    desk = Desk(session, session.run_for(run, step), "unapprove")
    built = _built_on(desk.look().facts, step)
    made = desk.decide(lambda job: unapprove.plan(job, step, who), dry_run=dry_run)
    document = rendered.document(
        "unapprove",
        desk.run.name,
        made.move,
        made.done,
        made.state.next,
        artifact=STEP[step].artifact,
        dependents=built,
    )
    session.answer(document, _lines(desk, made, step, built))


def _built_on(facts: Facts, step: str) -> list[dict[str, str]]:
    return [
        {"step": other, "artifact": STEP[other].artifact, "status": facts.statuses[other]}
        for other in permits.dependents(facts, step)
    ]


def _lines(desk: Desk, made: Made, step: str, built: list[dict[str, str]]) -> list[str]:
    verb = "is a draft again" if made.done else "would be a draft again"
    lines = [f"{STEP[step].artifact} {verb}."]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    if built:
        lines.append("Built on it, and left as it is:")
        lines += [f"  {item['artifact']} ({item['status']})" for item in built]
    return [*lines, "", *states.next_lines(made.state.next)]
