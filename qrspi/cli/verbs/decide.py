"""`qrspi decide`: say what becomes of findings that wait for a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import click

from qrspi.cli.app import Verb
from qrspi.cli.decision_command import Desk, Made
from qrspi.cli.run_words import is_subject
from qrspi.cli.session import Session
from qrspi.cli.verbs import rewind as rewinding
from qrspi.core.errors import Misuse
from qrspi.core.model import Problem, Verdict
from qrspi.core.pipeline import STEP, subject
from qrspi.handlers.changes.change_set import Move
from qrspi.handlers.decisions import decide_findings as decide
from qrspi.handlers.jobs.job import Job
from qrspi.render import decisions as rendered
from qrspi.render import run_page as states

USAGE = "qrspi decide [RUN] FINDING… apply|skip|loop-back"
CHOICES = ("apply", "skip", "loop-back")
_FINDING = r"[A-Za-z0-9][\w-]*\.R\d+-F\d+"


class Words(NamedTuple):
    run: str | None
    about: str | None  # a step or task, where several wait at once
    findings: tuple[str, ...]
    choice: str | None


class Group(NamedTuple):
    """What becomes of the findings that were named, or of all of some kinds."""

    choice: Literal["apply", "skip"]
    verdicts: tuple[Verdict, ...] = ()


def read_words(given: Sequence[str]) -> Words:
    """`[RUN] [STEP] FINDING… CHOICE`. A single word before the choice is a finding."""
    words = list(given)
    choice = words.pop() if words and words[-1] in CHOICES else None
    named = [word for word in words if re.fullmatch(_FINDING, word)]
    others = words[: len(words) - len(named)] if named else words
    if named != words[len(others) :]:
        raise Misuse(Problem("usage", f"findings come last; expected {USAGE}", hint=USAGE))
    if choice and not named and others:
        named = [others.pop()]
    about = others.pop() if others and is_subject(others[-1]) else None
    if len(others) > 1:
        raise Misuse(Problem("usage", f"too many words; expected {USAGE}", hint=USAGE))
    return Words(others[0] if others else None, about, tuple(named), choice)


@click.command("decide", cls=Verb)
@click.argument("words", nargs=-1, metavar="[RUN] FINDING… apply|skip|loop-back")
@click.option(
    "--all", "everything", type=click.Choice(["apply", "skip"]), help="Every undecided one."
)
@click.option("--proposed", type=click.Choice(["y", "n"]), help="Apply all proposed ones, or none.")
@click.option("--to", metavar="STEP", help="Where a loop back goes.")
@click.option("--yes", is_flag=True, help="Do not ask before a loop back.")
@click.option("--as", "who", default="", metavar="NAME", help="Who says so; else as git knows you.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.pass_obj
def command(
    session: Session,
    words: tuple[str, ...],
    everything: str | None,
    proposed: str | None,
    to: str | None,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Apply a finding to this artifact, skip it, or go back to the artifact it is about.

    A finding is named by reviewer and id, as in scope-claude.R1-F02.
    """
    asked = _one_way(read_words(words), everything, proposed)
    desk = Desk(session, session.run(asked.run), "decide")
    if asked.choice == "loop-back":
        _loop_back(desk, asked, to, yes, who, dry_run)
        return
    if to is not None:
        raise Misuse(Problem("usage", "--to goes with loop-back", field="--to", hint=USAGE))
    group = _group(asked, everything, proposed)
    made = desk.decide(lambda job: _plan(job, asked, group), dry_run=dry_run)
    _answer(desk, made, group.choice)


def _one_way(asked: Words, everything: str | None, proposed: str | None) -> Words:
    """Findings with a choice, or --all, or --proposed."""
    ways = [bool(asked.findings and asked.choice), bool(everything), bool(proposed)]
    stray = bool(asked.findings or asked.choice) and not ways[0]
    if sum(ways) == 1 and not stray:
        return asked
    text = "say which findings and what becomes of them, or use --all or --proposed"
    raise Misuse(Problem("usage", text, hint=USAGE))


def _group(asked: Words, everything: str | None, proposed: str | None) -> Group:
    if proposed:
        return Group("apply" if proposed == "y" else "skip", ("propose",))
    choice: Literal["apply", "skip"] = "apply" if "apply" in (everything, asked.choice) else "skip"
    return Group(choice, ("pause", "propose") if everything else ())


def _here(job: Job, asked: Words) -> Job:
    return decide.about(job, subject(asked.about) if asked.about else None)


def _plan(job: Job, asked: Words, group: Group) -> Move:
    job = _here(job, asked)
    if group.verdicts:
        return decide.plan(job, decide.waiting(job, group.verdicts), group.choice)
    return decide.plan(job, asked.findings, group.choice)


def _answer(desk: Desk, made: Made, choice: str) -> None:
    document = rendered.document(
        "decide",
        desk.run.name,
        made.move,
        made.done,
        made.state.next,
        decisions=dict.fromkeys(made.move.concerns, choice),
        target=None,
        resets=[],
    )
    verb = "" if made.done else "would be "
    lines = [f"{name}: {verb}{choice}" for name in made.move.concerns]
    lines += rendered.lines(made.move, made.done, in_git=desk.workspace.in_git)
    desk.session.answer(document, [*lines, "", *states.next_lines(made.state.next)])


def _loop_back(
    desk: Desk, asked: Words, to: str | None, yes: bool, who: str, dry_run: bool
) -> None:
    if len(asked.findings) != 1:
        text = "one finding at a time can be looped back"
        raise Misuse(Problem("usage", text, field="FINDING", hint=USAGE))
    name = asked.findings[0]

    def plan(job: Job) -> Move:
        return decide.loop_back(_here(job, asked), name, to, who)

    move = plan(desk.look())
    desk.session.note(f"Loop back to: {STEP[move.step].artifact}")
    if not dry_run:
        command = f"qrspi decide {desk.run.name} {name} loop-back --to {move.step}"
        rewinding.confirm_rewind(desk, move, yes, command)
    made = desk.decide(plan, dry_run=dry_run)
    rewinding.answer(desk, made, "decide", decisions={name: "loop-back"})
