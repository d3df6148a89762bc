"""`qrspi decide`: say what becomes of findings that wait for a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import verb
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.run_words import is_subject
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Misuse
from qrspi.core.filenames import TAG
from qrspi.core.findings.near_names import nearest
from qrspi.core.model import Verdict
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP, subject
from qrspi.core.steps import permits
from qrspi.core.text.shell_words import quoted
from qrspi.handlers.changes.change_set import ChangeSet
from qrspi.handlers.decisions import decide_findings
from qrspi.handlers.jobs.job import Job
from qrspi.world.runs.committed_tree import CommittedTree

USAGE = "qrspi decide [RUN] FINDING… apply|skip|loop-back"
CHOICES = ("apply", "skip", "loop-back")
_FINDING = rf"(?:{TAG}\.)?R[0-9]+-F[0-9]+"


class Words(NamedTuple):
    run: str | None
    about: str | None  # a step or task, where several wait at once
    findings: tuple[str, ...]
    choice: str | None


class Person(NamedTuple):
    name: str  # who they say they are
    note: str  # their words about the decision


class Group(NamedTuple):
    choice: Literal["apply", "skip"]
    verdicts: tuple[Verdict, ...] = ()


def read_words(given: Sequence[str]) -> Words:
    """`[RUN] [STEP] FINDING… CHOICE`. A single word before the choice is a finding."""
    words = list(given)
    choice = _choice(words[-1]) if words else None
    words = words[:-1] if choice else words
    named = [word for word in words if re.fullmatch(_FINDING, word)]
    others = words[: len(words) - len(named)] if named else words
    if named != words[len(others) :]:
        raise run_words.misuse(_misplaced(words), hint=USAGE)
    if choice and not named and others:
        named = [others.pop()]
    about = others.pop() if others and is_subject(others[-1]) else None
    if len(others) > 1:
        text = f"too many words; expected {USAGE}" if choice else _misplaced(words)
        raise run_words.misuse(text, hint=USAGE)
    return Words(others[0] if others else None, about, tuple(named), choice)


def _choice(word: str) -> str | None:
    """By its word, or by its number in the menu of a finding."""
    return next((key for at, key in enumerate(CHOICES, 1) if word in (key, str(at))), None)


def _misplaced(words: list[str]) -> str:
    if not re.fullmatch(_FINDING, words[-1]):
        near = nearest(words[-1], CHOICES)
        meant = f"; did you mean {near}?" if near else "; expected apply, skip or loop-back"
        return f"{words[-1]!r} is not a decision{meant}"
    return f"findings come after RUN, one beside the other; expected {USAGE}"


@verb("decide")
@arguments.words("[RUN] FINDING… apply|skip|loop-back")
@click.option(
    "--all", "everything", type=click.Choice(["apply", "skip"]), help="Every undecided one."
)
@click.option("--proposed", type=click.Choice(["y", "n"]), help="Apply all proposed ones, or none.")
@click.option(
    "-m", "--message", "note", default="", metavar="TEXT", help="Words for the fixer or author."
)
@click.option("--to", metavar="STEP", help="Where a loop back goes.")
@click.option("--yes", is_flag=True, help="Do not ask before a loop back.")
@arguments.person()
@arguments.dry_run()
def command(
    session: Session,
    words: tuple[str, ...],
    everything: str | None,
    proposed: str | None,
    note: str,
    to: str | None,
    yes: bool,
    who: str,
    dry_run: bool,
) -> None:
    """Apply a finding to this artifact, skip it, or go back to the artifact it is about.

    A finding is named by reviewer and id, as in scope-claude.R1-F02; the id alone is enough
    where only one finding that waits has it. What becomes of it may be said by its number in the
    menu. What `-m` says is on record. Of a finding that is applied the fixer is told it: which of
    two ways was meant, for instance. With loop-back, the author of the step gone back to is told it
    together with the finding.
    """
    if not (words or everything or proposed):
        raise _unanswered(session)
    asked = _one_way(read_words(words), everything, proposed)
    decision = DecisionCommand(session, "decide", asked.run)
    if asked.choice == "loop-back":
        _loop_back(decision, asked, to, Person(who, note.strip()), yes=yes, dry_run=dry_run)
        return
    if to is not None:
        raise run_words.misuse("--to goes with loop-back", field="--to", hint=USAGE)
    group = _group(asked, everything, proposed)
    person = Person(who, note.strip())
    made = decision.decide(lambda job: _plan(job, asked, group, person), dry_run=dry_run)
    decisions = dict.fromkeys(made.change.concerns, group.choice)
    would = "" if made.done else "would be "
    lines = [f"{name}: {would}{choice}" for name, choice in decisions.items()]
    decision.answer(made, lines, decisions=decisions, target=None, resets=[])


def _unanswered(session: Session) -> Misuse:
    """Without any word: the findings that wait, and how the first is decided."""
    run = session.run(None)
    following = derive(CommittedTree(run.path), session.run_path(run)).next
    if following.kind != "pause":
        problem = permits.nothing_to_decide(run.name, following)
        return run_words.misuse(problem.message, field="FINDING", hint=problem.hint)
    listed = ", ".join(following.missing)
    text = f"say what becomes of the findings that wait: {listed}"
    hint = f"qrspi decide {run.name} {following.missing[0]} apply"
    return run_words.misuse(text, field="FINDING", expected=listed, hint=hint)


def _one_way(asked: Words, everything: str | None, proposed: str | None) -> Words:
    ways = [bool(asked.findings and asked.choice), bool(everything), bool(proposed)]
    stray = bool(asked.findings or asked.choice) and not ways[0]
    if sum(ways) == 1 and not stray:
        return asked
    text = "say which findings and what becomes of them, or use --all or --proposed"
    raise run_words.misuse(text, field="FINDING", hint=USAGE)


def _group(asked: Words, everything: str | None, proposed: str | None) -> Group:
    if proposed:
        return Group("apply" if proposed == "y" else "skip", ("propose",))
    choice: Literal["apply", "skip"] = "apply" if "apply" in (everything, asked.choice) else "skip"
    return Group(choice, ("pause", "propose") if everything else ())


def _here(job: Job, asked: Words) -> Job:
    return decide_findings.about(job, subject(asked.about) if asked.about else None)


def _plan(job: Job, asked: Words, group: Group, person: Person) -> ChangeSet:
    job = _here(job, asked)
    kinds = group.verdicts
    given = (decide_findings.full_name(job, name) for name in asked.findings)
    names = decide_findings.waiting(job, kinds) if kinds else tuple(given)
    return decide_findings.plan(job, names, group.choice, person.name, person.note)


def _loop_back(
    decision: DecisionCommand,
    asked: Words,
    to: str | None,
    person: Person,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    if len(asked.findings) != 1:
        text = "one finding at a time can be looped back"
        raise run_words.misuse(text, field="FINDING", hint=USAGE)
    name = asked.findings[0]
    about: dict[str, object] = {}

    def plan(job: Job) -> ChangeSet:
        here = _here(job, asked)
        full = decide_findings.full_name(here, name)
        if loop := here.loop:
            about.update(step=loop.subject.key, round=loop.round)
        return decide_findings.loop_back(here, full, to, person.name, person.note)

    def told(job: Job) -> ChangeSet:
        change = plan(job)
        decision.session.note(f"Loop back to: {STEP[change.step].artifact}")
        return change

    asks = not (yes or dry_run)
    if asks:
        change = told(decision.look())
        command = f"qrspi decide {decision.run.name} {name} loop-back --to {change.step}"
        command += f" -m {quoted(person.note)}" if person.note else ""
        decision.confirm_rewind(change, command)
    made = decision.decide(plan if asks else told, dry_run=dry_run)
    decision.answer_rewind(made, decisions={name: "loop-back"}, **about)
