"""`qrspi checkpoint`: implementers that ask for review while they work."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import BinaryIO

import click

from qrspi.cli import arguments, run_words
from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.session import Session
from qrspi.core.artifacts import task_file
from qrspi.core.code_steps import batch
from qrspi.core.errors import Halt, Refusal
from qrspi.core.gates.checkpoints import checkpoint_board, checkpoint_ruling, checkpoint_scale
from qrspi.core.gates.checkpoints.checkpoint_ruling import Reviewer
from qrspi.core.gates.checkpoints.checkpoint_tables import FAULTS, FILE, SET_SEEN
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.handlers.gates import checkpoint_knowledge, checkpoint_review, checkpoint_rows
from qrspi.handlers.gates.checkpoint_knowledge import Outcome
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.render.gates import checkpoints as pages
from qrspi.render.gates.checkpoints import LintFault
from qrspi.world.files import orchestration_db
from qrspi.world.machine import clock

ANSWERS_LIMIT = 256 * 1024


@click.group("checkpoint", cls=VerbGroup)
def command() -> None:
    """Implementers that ask for review while they work, by rows of orchestration.db.

    A task is named task-03 or 03. RUN may stand before or after the action word.
    """


def _run_and_task(words: Sequence[str], usage: str) -> tuple[str | None, str | None]:
    """`[RUN] [TASK]`."""
    run, keys = run_words.run_and_tasks(words, usage)
    if len(keys) > 1:
        raise run_words.misuse(f"too many words; expected {usage}", hint=usage)
    return run, next(iter(keys), None)


@command.action("init")
@arguments.run
@arguments.dry_run("what would be made")
def init(session: Session, run: str | None, dry_run: bool) -> None:
    """Make orchestration.db, or add the rows of tasks that are new."""
    decision = DecisionCommand(session, "checkpoint init", run)
    workspace, options = decision.workspace, decision.options
    if dry_run:
        added = checkpoint_rows.missing(workspace, task_file.read_keys(workspace))
    else:
        with decision.locked():
            keys = task_file.read_keys(workspace)
            added = checkpoint_rows.add(workspace, keys, options.lock_timeout)
            if added.made or added.tasks:
                performed = checkpoint_rows.performed("", added)
                carry_out.tell(workspace, options.actor, performed)
    path = f"{workspace.path}/{FILE}"
    document = pages.init_document(decision.run.name, path, added, dry_run=dry_run)
    session.answer(document, pages.init_lines(added, dry_run=dry_run))


@command.action("list")
@arguments.words("[RUN] [TASK]")
def list_(session: Session, words: tuple[str, ...]) -> None:
    """Every row: its state, what it asks for, and the command that answers."""
    run, task = _run_and_task(words, "qrspi checkpoint list [RUN] [TASK]")
    decision = DecisionCommand(session, "checkpoint list", run)
    board = checkpoint_rows.board(decision.workspace)
    rows = checkpoint_board.told(decision.run.name, board, decision.workspace)
    if task:
        chosen = checkpoint_ruling.choose(board, task, decision.run.name)
        if isinstance(chosen, Problem):
            raise Refusal(chosen)
        rows = tuple(row for row in rows if row.task == task)
    stale = checkpoint_board.stale(rows, clock.seconds())
    standing = pages.BoardPage(decision.run.name, board, rows, stale, task)
    session.answer(pages.list_document(standing), pages.list_lines(standing, session.width))


@command.action("review")
@arguments.words("[RUN] [TASK]")
@click.option("--read", is_flag=True, help="The proposal was read; needed for a 5.")
@click.option(
    "--score",
    type=click.IntRange(0, checkpoint_scale.ROUGHEST),
    metavar="N",
    help="How smooth it was, 0 to 9. Default: as the request says.",
)
@click.option("-m", "--message", default="", metavar="TEXT", help="What is said to it.")
@click.option("--anyway", is_flag=True, help="A person decides after too many requests.")
@click.option("--answers", type=click.File("rb"), help="JSON: answers to the checklists.")
@arguments.dry_run("what would be answered")
def review(
    session: Session,
    words: tuple[str, ...],
    read: bool,
    score: int | None,
    message: str,
    anyway: bool,
    answers: BinaryIO | None,
    dry_run: bool,
) -> None:
    """Answer a review request; without TASK, the oldest one.

    0 to 4 approves, 5 approves once the proposal was read, 6 and 7 ask for a revision, 8 and 9
    reject.
    """
    run, task = _run_and_task(words, "qrspi checkpoint review [RUN] [TASK]")
    _complete(anyway, score, message)
    decision = DecisionCommand(session, "checkpoint review", run)
    reviewer = Reviewer(read, score, message, anyway, _answers(answers))
    knowledge: Outcome | None = None
    if dry_run:
        done = checkpoint_review.rehearse(decision.workspace, task, reviewer)
    else:
        with decision.locked():
            done = checkpoint_review.review(decision.workspace, decision.options, task, reviewer)
            if done.ruling.completes:
                knowledge = checkpoint_knowledge.process(decision.workspace, decision.options)
    kept = reviewer.answers or checkpoint_ruling.unanswered()
    document = pages.review_document(decision.run.name, done, kept, knowledge, dry_run=dry_run)
    session.answer(document, pages.review_lines(done, knowledge, dry_run=dry_run))


def _complete(anyway: bool, score: int | None, message: str) -> None:
    if anyway and (score is None or not message.strip()):
        text = "a person who decides says how smooth it was and why: --anyway --score N -m TEXT"
        hint = "qrspi checkpoint review [RUN] TASK --anyway --score N -m TEXT"
        raise run_words.misuse(text, field="--anyway", expected="--score N -m TEXT", hint=hint)


def _answers(file: BinaryIO | None) -> checkpoint_ruling.Answers | None:
    if file is None:
        return None
    name = str(getattr(file, "name", "--answers"))
    answers = checkpoint_ruling.read_answers(file.read(ANSWERS_LIMIT), name)
    if isinstance(answers, Problem):
        raise Refusal(answers)
    return answers


@command.action("summary")
@arguments.run
def summary(session: Session, run: str | None) -> None:
    """How smoothly the tasks of the phase went, each by its roughest review."""
    decision = DecisionCommand(session, "checkpoint summary", run)
    job, board = decision.look(), checkpoint_rows.board(decision.workspace)
    totals = checkpoint_scale.summarise(_of_phase(job, list(board.rows)), board.worst)
    document = pages.summary_document(decision.run.name, job.facts.phase, totals)
    session.answer(document, pages.summary_lines(job.facts.phase, totals))


def _of_phase(job: Job, known: Sequence[str]) -> list[str]:
    """Where the plan cannot be read, every task counts."""
    planned = batch.read(job.facts)
    keys = {item.key for item in planned.items}
    return [key for key in known if planned.problems or key in keys]


@command.action("lint")
@arguments.run
@click.option("--seen", is_flag=True, help="Mark them as read; they are not shown again.")
@arguments.dry_run("what would be marked")
def lint(session: Session, run: str | None, seen: bool, dry_run: bool) -> int:
    """Changes of state that came without a heartbeat; exit 3 when there are any."""
    decision = DecisionCommand(session, "checkpoint lint", run)
    checkpoint_rows.board(decision.workspace)
    marks = seen and not dry_run
    with decision.locked() if marks else nullcontext():
        faults = _faults(decision)
        if marks and faults:
            _mark(decision, faults)
    document = pages.lint_document(decision.run.name, faults, seen=marks)
    session.answer(document, pages.lint_lines(faults, seen=marks))
    if faults and not seen:
        raise click.exceptions.Exit(Refusal.exit_code)
    return 0


def _faults(decision: DecisionCommand) -> tuple[LintFault, ...]:
    rows = decision.workspace.rows(FILE, FAULTS)
    if isinstance(rows, Fault):
        raise Halt(checkpoint_board.unusable(rows))
    return tuple(LintFault(*row) for row in rows[0])


def _mark(decision: DecisionCommand, faults: Sequence[LintFault]) -> None:
    place, timeout = decision.workspace.path, decision.options.lock_timeout
    with orchestration_db.changing(place, timeout) as change:
        change.run(SET_SEEN, faults[-1].id)
    notes = (f"{len(faults)} changes of state without a heartbeat are marked as seen",)
    performed = Performed("checkpoint-lint", "", 0, (FILE,), notes)
    carry_out.tell(decision.workspace, decision.options.actor, performed)


@command.action("knowledge")
@arguments.run
@click.option("--merge", is_flag=True, help="Add what overlaps in part to the entry it overlaps.")
@arguments.dry_run()
def knowledge(session: Session, run: str | None, merge: bool, dry_run: bool) -> None:
    """Take proposals into knowledge/, unless somebody waits for a review."""
    decision = DecisionCommand(session, "checkpoint knowledge", run)
    board = checkpoint_board.read(decision.workspace)
    if isinstance(board, Problem):
        raise Halt(board)
    workspace = run_words.workspace(decision.run.path, dry_run)
    with workspace.locked(decision.options.lock_timeout, f"qrspi {decision.verb}"):
        outcome = checkpoint_knowledge.process(workspace, decision.options, merge=merge)
    document = pages.knowledge_document(decision.run.name, outcome, dry_run=dry_run)
    session.answer(document, pages.knowledge_lines(outcome, dry_run=dry_run))
