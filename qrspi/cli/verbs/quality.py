"""`qrspi quality`: is a task's text good enough to be handed over?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

import click

from qrspi.cli import arguments, dispatch_command, run_words
from qrspi.cli.answers.status import counting
from qrspi.cli.app import VerbGroup
from qrspi.cli.decision_command import DecisionCommand
from qrspi.cli.dispatch_command import SendOptions
from qrspi.cli.session import Session
from qrspi.core.errors import Halt, Refusal
from qrspi.core.filenames import prompt_file
from qrspi.core.gates.quality import quality_gate, task_spec, verdict_line
from qrspi.core.gates.quality.judgement import Judgement, Mode, unreviewed
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.gates.quality.verdict_line import AXES, Line
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.agents import quality_reviews
from qrspi.handlers.agents.quality_reviews import VerdictIntake
from qrspi.handlers.gates import quality as verdicts
from qrspi.handlers.gates.quality import QualityCheck, Reached, Wanted
from qrspi.handlers.jobs.job import Job
from qrspi.render.gates import verdicts as rendered

MODES = ("cache-only", "live", "live-cache-aware")
DRAFT = "draft"
NOT_GOOD = 3  # with --exit-code
REPLY_LIMIT = 8 * 1024 * 1024

_mode = click.option("--mode", type=click.Choice(MODES), help="Default: as gates.quality says.")
_exit_code = click.option("--exit-code", is_flag=True, help="Exit 3 when something is not a PASS.")


@click.group("quality", cls=VerbGroup)
def command() -> None:
    """Task texts: judge one or all of them, list what is owed, take a verdict back.

    RUN may stand before or after the action word.
    """


class Verdicts(NamedTuple):
    found: dict[str, Judgement]
    unwritten: Mapping[str, Problem]


@command.action("check")
@arguments.words("[RUN] TASK|-")
@_mode
@click.option("--reply", type=click.File("rb"), help="A reviewer's answer, from a file or -.")
@click.option("--prior-verdict", metavar="LINE", help="Of a draft: the line it got before.")
@click.option("--prior-axes", metavar="A,B", help="Of a draft: the axes it failed on before.")
@_exit_code
@arguments.dry_run(instead="send and write nothing")
@dispatch_command.options
def check(
    session: Session,
    words: tuple[str, ...],
    mode: Mode | None,
    reply: BinaryIO | None,
    prior_verdict: str | None,
    prior_axes: str | None,
    exit_code: bool,
    dry_run: bool,
    asked: SendOptions,
) -> None:
    """Judge one task: rubric, earlier verdict, reviewer. With -, a draft from stdin."""
    usage = "qrspi quality check [RUN] TASK|-"
    is_draft = words[-1:] == ("-",)
    if is_draft:
        run, key = _only_run(words, usage), DRAFT
    else:
        run, key = run_words.run_and_task(words, usage)
    decision = DecisionCommand(session, "quality check", run)
    job = decision.look()
    how = verdicts.mode(job, mode)
    if is_draft:
        spec = _draft(prior_verdict, prior_axes, reply)
        looked = QualityCheck(job).look_at(spec, how, is_draft=True)
    else:
        _refuse_prior(prior_verdict, prior_axes)
        verdicts.chosen_tasks(job, (key,))
        looked = QualityCheck(job).look(key, "live" if reply else how)
    outcome = _judged(decision, job, looked, asked, reply=reply, is_draft=is_draft, dry_run=dry_run)
    judgement = outcome.found[key]
    document = {
        "schema": "qrspi/quality-check/v1",
        "run": decision.run.name,
        "mode": how,
        "dry_run": dry_run,
        **rendered.judgement_document(judgement, outcome.unwritten.get(key)),
    }
    session.answer(document, rendered.judgement_lines(judgement, outcome.unwritten.get(key)))
    _leave(exit_code, (judgement,))


def _only_run(words: Sequence[str], usage: str) -> str | None:
    if len(words) > 2:
        raise run_words.misuse(f"too many words; expected {usage}", hint=usage)
    return words[0] if len(words) == 2 else None


def _refuse_prior(verdict: str | None, axes: str | None) -> None:
    if verdict is not None or axes is not None:
        text = "--prior-verdict and --prior-axes are for a draft on stdin; a task has its own"
        raise run_words.misuse(text, hint="qrspi quality check [RUN] -")


def _draft(prior_verdict: str | None, prior_axes: str | None, reply: BinaryIO | None) -> Spec:
    if reply is not None and reply is sys.stdin.buffer:
        text = "the draft is read from stdin, so --reply needs a file"
        raise run_words.misuse(text, hint="", field="--reply", found="-", expected="a file")
    data = sys.stdin.buffer.read(quality_gate.SPEC_LIMIT + 1)
    if len(data) > quality_gate.SPEC_LIMIT:
        text = f"the draft on stdin has more than {quality_gate.SPEC_LIMIT} bytes"
        raise Refusal(Problem("too-large", text, expected=f"at most {quality_gate.SPEC_LIMIT}"))
    spec = task_spec.read(data, DRAFT)
    if isinstance(spec, Problem):
        raise Refusal(spec)
    return spec._replace(line=_prior(spec, prior_verdict, prior_axes))


def _prior(spec: Spec, verdict: str | None, axes: str | None) -> str:
    """The verdict that stands in for the one a file would have."""
    listed = tuple(axis.strip() for axis in (axes or "").split(",") if axis.strip())
    for axis in listed:
        if axis not in AXES:
            expected = ", ".join(AXES)
            text = f"--prior-axes has {axis!r}, expected some of {expected}"
            named = {"field": "--prior-axes", "found": axis, "expected": expected}
            raise run_words.misuse(text, hint="", **named)
    if verdict is None:
        before = Line("NEEDS_REFINEMENT", "0" * 8, "1970-01-01T00:00:00Z", listed)
        return verdict_line.render(before) if listed else spec.line
    line = verdict_line.read(verdict)
    if line is None:
        text = f"--prior-verdict is {verdict[:80]!r}, expected a line as verdict_string has it"
        raise run_words.misuse(text, hint="", field="--prior-verdict", found=verdict)
    return verdict_line.render(line._replace(failing=listed or line.failing))


def _judged(
    decision: DecisionCommand,
    job: Job,
    looked: Judgement | Wanted,
    asked: SendOptions,
    *,
    reply: BinaryIO | None,
    is_draft: bool,
    dry_run: bool,
) -> Verdicts:
    """The verdict about one task: a known one, one handed in, or a reviewer's."""
    if isinstance(looked, Judgement):
        return _kept(decision, (looked,), dry_run=dry_run or is_draft)
    if reply is not None:
        came_in = quality_reviews.handed_in(job, looked, reply.read(REPLY_LIMIT), is_draft=is_draft)
        return _kept(decision, (came_in.judgement,), (came_in,), dry_run=dry_run or is_draft)
    key = looked.spec.key
    if dry_run:
        return Verdicts({key: _would_ask(job, looked)}, {})
    came = _reviewed(decision, (looked,), asked, (key,) if is_draft else ())
    if (problem := came.failures.get(key)) and problem is not came.stopped:
        raise Halt(problem)
    judgement = _after(job, looked, came, is_draft)
    if not is_draft:
        verdicts.commit_verdicts(decision.workspace, decision.options, (judgement,))
    return Verdicts({key: judgement}, came.unwritten)


def _kept(
    decision: DecisionCommand,
    judgements: Iterable[Judgement],
    reached: Sequence[Reached] = (),
    *,
    dry_run: bool,
) -> Verdicts:
    listed = {judgement.task: judgement for judgement in judgements}
    if dry_run:
        return Verdicts(listed, {})
    given = reached or [Reached(one, "rubric") for one in listed.values()]
    unwritten = verdicts.keep(decision.workspace, decision.options, given)
    verdicts.commit_verdicts(decision.workspace, decision.options, listed.values())
    return Verdicts(listed, unwritten)


def _would_ask(job: Job, wanted: Wanted) -> Judgement:
    judgement = unreviewed(wanted.spec, quality_reviews.whom(job, wanted))
    return judgement._replace(warnings=wanted.warnings)


def _reviewed(
    decision: DecisionCommand,
    wanted: Sequence[Wanted],
    asked: SendOptions,
    drafts: Sequence[str] = (),
) -> VerdictIntake:
    session, workspace = decision.session, decision.workspace
    with dispatch_command.opened(session, workspace, decision.options, asked) as dispatcher:
        return quality_reviews.review(dispatcher, wanted, drafts)


def _after(job: Job, wanted: Wanted, came: VerdictIntake, is_draft: bool = False) -> Judgement:
    key = wanted.spec.key
    if key in came.judgements:
        return came.judgements[key]
    why = "nobody was sent"
    if key in came.held:
        why = _handed_over(job, key, is_draft)
    elif problem := came.failures.get(key) or came.stopped:
        why = problem.message
    return unreviewed(wanted.spec, why)._replace(warnings=wanted.warnings)


def _handed_over(job: Job, key: str, is_draft: bool) -> str:
    if is_draft:
        return "config.md names no program and no provider to send a draft to"
    prompt = prompt_file(quality_gate.asked(key))
    command = f"qrspi quality check {job.run} {key} --reply FILE"
    return f"its prompt waits in {prompt}; hand the answer in with `{command}`"


def _leave(exit_code: bool, judgements: Iterable[Judgement]) -> None:
    if exit_code and any(judgement.verdict != "PASS" for judgement in judgements):
        raise click.exceptions.Exit(NOT_GOOD)


@command.action("batch")
@arguments.words("[RUN] [TASK…]")
@_mode
@_exit_code
@arguments.dry_run(instead="send and write nothing")
@dispatch_command.options
def batch(
    session: Session,
    words: tuple[str, ...],
    mode: Mode | None,
    exit_code: bool,
    dry_run: bool,
    asked: SendOptions,
) -> None:
    """Judge every task, or those that are named; reviewers are sent five at once."""
    run, keys = run_words.run_and_tasks(words, "qrspi quality batch [RUN] [TASK…]")
    decision = DecisionCommand(session, "quality batch", run)
    job = decision.look()
    how = verdicts.mode(job, mode)
    chosen = verdicts.chosen_tasks(job, keys)
    counted = counting(chosen, "looking at tasks") if session.progress else chosen
    looked = verdicts.look(job, counted, how)
    came = _all_judged(decision, job, looked, asked, dry_run=dry_run)
    found = [came.found[key] for key in chosen]
    document = {
        "schema": "qrspi/quality-batch/v1",
        "run": decision.run.name,
        "mode": how,
        "dry_run": dry_run,
        "tasks": [rendered.judgement_document(one, came.unwritten.get(one.task)) for one in found],
    }
    lines: list[str] = []
    for judgement in found:
        lines += rendered.judgement_lines(judgement, came.unwritten.get(judgement.task))
    session.answer(document, lines)
    _leave(exit_code, found)


def _all_judged(
    decision: DecisionCommand,
    job: Job,
    looked: verdicts.Looked,
    asked: SendOptions,
    *,
    dry_run: bool,
) -> Verdicts:
    outcome = _kept(decision, looked.judgements.values(), dry_run=dry_run)
    if dry_run:
        would = {wanted.spec.key: _would_ask(job, wanted) for wanted in looked.wanted}
        return Verdicts(outcome.found | would, {})
    if not looked.wanted:
        return outcome
    came = _reviewed(decision, looked.wanted, asked)
    after = {one.spec.key: _after(job, one, came) for one in looked.wanted}
    verdicts.commit_verdicts(decision.workspace, decision.options, after.values())
    return Verdicts(outcome.found | after, {**outcome.unwritten, **came.unwritten})


@command.action("debt")
@arguments.run
@_exit_code
def debt(session: Session, run: str | None, exit_code: bool) -> None:
    """The tasks whose verdict is absent, about another text, or not a PASS."""
    decision = DecisionCommand(session, "quality debt", run)
    job = decision.look()
    owed = quality_gate.debts(job.workspace, verdicts.chosen_tasks(job))
    document = {
        "schema": "qrspi/quality-debt/v1",
        "run": decision.run.name,
        "tasks": [rendered.debt_document(standing) for standing in owed],
    }
    session.answer(document, rendered.debt_lines(owed, session.width))
    if exit_code and owed:
        raise click.exceptions.Exit(NOT_GOOD)


@command.action("clear")
@arguments.words("[RUN] TASK")
@arguments.person()
@arguments.dry_run("what would be written")
def clear(session: Session, words: tuple[str, ...], who: str, dry_run: bool) -> None:
    """Take a verdict back, even a frozen one; the task is judged again."""
    run, key = run_words.run_and_task(words, "qrspi quality clear [RUN] TASK")
    decision = DecisionCommand(session, "quality clear", run)
    made = decision.decide(lambda job: verdicts.clear(job, key, who), dry_run=dry_run)
    verb = "Cleared" if made.done else "Would clear"
    decision.answer(made, f"{verb} the verdict of {key}.", task=key)
