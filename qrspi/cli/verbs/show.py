"""`qrspi show`: the findings of a round, and why each was kept or dropped."""

from __future__ import annotations

import click

from qrspi.cli.app import Verb
from qrspi.cli.run_words import a_subject, run_and_step
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Refusal
from qrspi.core.pipeline import Subject
from qrspi.core.rounds import findings_view as showing
from qrspi.core.rounds import loop as loops
from qrspi.core.rounds.findings_view import Shown
from qrspi.handlers.changes import since_approval
from qrspi.handlers.jobs.job import Options
from qrspi.handlers.rounds import named_round as rounds
from qrspi.render import findings_table as pages
from qrspi.render.safe_text import visible
from qrspi.world.runs.workspace import Workspace

USAGE = "qrspi show [RUN] [STEP] [--round N]"


@click.command("show", cls=Verb)
@click.argument("words", nargs=-1, metavar="[RUN] [STEP]")
@click.option("--round", "number", type=click.IntRange(1), metavar="N", help="Not the newest.")
@click.option("--dropped", is_flag=True, help="Only what scored too low, with the verifier's word.")
@click.option("--since-approval", is_flag=True, help="Instead: what was edited after approval.")
@click.pass_obj
def command(
    session: Session,
    words: tuple[str, ...],
    number: int | None,
    dropped: bool,
    since_approval: bool,
) -> None:
    """The findings of a round: scores, what was kept or dropped, why, and since when.

    Without STEP the run's current step is shown, without --round its newest round.
    """
    run, step = run_and_step(words, USAGE)
    found = session.run_for(run, step)
    workspace = Workspace(found.path)
    subject = a_subject(step or survey(workspace).state.next.step, USAGE)
    if since_approval:
        _edited(session, workspace, subject)
        return
    shown, number = _findings(workspace, subject, number)
    if dropped:
        shown = tuple(one for one in shown if one.item.verdict == "drop")
    document = {
        "schema": "qrspi/show/v1",
        "run": found.name,
        "step": subject.key,
        "round": number or None,
        "findings": [pages.document(one) for one in shown],
    }
    session.answer(document, _lines(session, subject, shown, number, dropped))


def _findings(
    workspace: Workspace, subject: Subject, number: int | None
) -> tuple[tuple[Shown, ...], int]:
    if number is None and not loops.newest(workspace, subject):
        return (), 0
    job = rounds.to_read(workspace, subject, number, Options())
    loop = job.round_loop
    if loop.round is None and loop.problem:
        raise Refusal(loop.problem)
    config = showing.config_of(workspace, loop, job.facts.config)
    loop = loops.at(workspace, subject, config, loop.number)
    return showing.findings(workspace, loop, config), loop.number


def _lines(
    session: Session, subject: Subject, shown: tuple[Shown, ...], number: int, dropped: bool
) -> list[str]:
    if not number:
        return [f"{subject.key} has no review round yet."]
    title = f"Round {number} of {subject.key}"
    if dropped:
        return [f"{title}, dropped findings", "", *pages.dropped_lines(shown, number)]
    return [title, "", *pages.lines(shown, number, session.width)]


def _edited(session: Session, workspace: Workspace, subject: Subject) -> None:
    found = since_approval.look(workspace, subject)
    text = found.diff.decode(errors="replace")
    document = {
        "schema": "qrspi/show/v1",
        "run": workspace.name,
        "step": subject.key,
        "since_approval": {"commit": found.commit, "diff": text},
    }
    same = f"{subject.artifact} has not changed since it was approved in {found.commit}."
    session.answer(document, visible(text).rstrip("\n").split("\n") if text else [same])
