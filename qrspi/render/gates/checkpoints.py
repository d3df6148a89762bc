"""Checkpoints of implementers: rows, reviews, the summary of a phase, as documents and lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_ruling import LISTS, Answers
from qrspi.core.gates.checkpoints.checkpoint_scale import MEANING, Summary
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.core.model import CheckpointRow, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.gates.checkpoint_knowledge import Outcome
from qrspi.handlers.gates.checkpoint_review import Reviewed
from qrspi.handlers.gates.checkpoint_rows import Added
from qrspi.render import problems
from qrspi.render.terminal import one_line, table

TITLES = {
    "facts": "FACTS, for whoever wrote the task's instructions",
    "strategy": "STRATEGY, for whoever reads them",
    "situation": "Context situation, for whoever reviews",
}


def checklists() -> dict[str, list[str]]:
    return {name: list(questions) for name, questions in LISTS.items()}


def checklist_lines(*names: str) -> list[str]:
    lines: list[str] = []
    for name in names:
        numbered = (f"  {at}. [ ] {question}" for at, question in enumerate(LISTS[name], 1))
        lines += ["", f"{TITLES[name]}:", *numbered]
    return lines


def init_document(run: str, path: str, added: Added, *, dry_run: bool) -> dict[str, Any]:
    return {
        "schema": "qrspi/checkpoint-init/v1",
        "run": run,
        "database": path,
        "made": added.made,
        "tasks": list(added.tasks),
        "checklists": checklists(),
        "dry_run": dry_run,
    }


def init_lines(added: Added, *, dry_run: bool) -> list[str]:
    verb = ("Would make" if dry_run else "Made") if added.made else "There is"
    rows = f"new rows of {', '.join(added.tasks)}" if added.tasks else "no new rows"
    return [f"{verb} {FILE}, with {rows}.", *checklist_lines("facts", "strategy")]


class BoardPage(NamedTuple):
    run: str
    board: Board
    rows: tuple[CheckpointRow, ...]
    stale: tuple[Problem, ...]
    task: str | None = None


def list_document(standing: BoardPage) -> dict[str, Any]:
    return {
        "schema": "qrspi/checkpoint-list/v1",
        "run": standing.run,
        "tasks": [_row(standing.board, row) for row in standing.rows],
        "waiting": list(standing.board.pending),
        "warnings": problems.warnings(standing.stale),
        "checklists": checklists(),
    }


def _row(board: Board, row: CheckpointRow) -> dict[str, Any]:
    asked, last = board.asked.get(row.task), board.last(row.task)
    return {
        "task": row.task,
        "state": row.state,
        "heartbeat": row.heartbeat,
        "checkpoint": asked.number if asked else None,
        "of": asked.request.of if asked else None,
        "cycle": asked.cycle if asked else None,
        "score": last.score if last else None,
        "verdict": last.verdict if last else None,
        "request": dict(asked.request.fields) if asked else None,
        "deviations": list(asked.request.deviations) if asked else [],
        "context_warnings": list(board.warned.get(row.task, ())),
        "waits_for": row.summary or None,
        "command": row.command or None,
    }


def list_lines(standing: BoardPage, width: int) -> list[str]:
    rows = [_cells(standing.board, row) for row in standing.rows]
    head = ("TASK", "STATE", "CHECKPOINT", "REQUEST", "SMOOTHNESS", "VERDICT")
    lines = table(head, rows, width) if rows else [f"{FILE} has no rows."]
    lines += problems.marked("warning", standing.stale)
    for row in standing.rows:
        if row.kind:
            lines += ["", f"{one_line(row.summary)}:", f"  $ {one_line(row.command)}"]
    return [*lines, *(_details(standing.board, standing.task) if standing.task else [])]


def _cells(board: Board, row: CheckpointRow) -> tuple[str, ...]:
    asked, last = board.asked.get(row.task), board.last(row.task)
    of = f" of {asked.request.of}" if asked and asked.request.of else ""
    return (
        row.task,
        row.state,
        f"{asked.number}{of}" if asked else "-",
        str(asked.cycle) if asked else "-",
        f"{last.score}/9" if last and last.score is not None else "-",
        last.verdict if last else "-",
    )


def _details(board: Board, task: str) -> list[str]:
    asked, warned = board.asked.get(task), board.warned.get(task, ())
    lines = ["", f"{task} says:"] if asked else []
    fields = asked.request.fields.items() if asked else ()
    lines += [f"  {name}: {one_line(value)}" for name, value in fields]
    lines += [f"  deviation: {one}" for one in (asked.request.deviations if asked else ())]
    lines += [f"  context warning: {one_line(text)}" for text in warned]
    names = ("facts", "strategy", *(("situation",) if asked or warned else ()))
    return [*lines, *checklist_lines(*names)]


def review_document(
    run: str, reviewed: Reviewed, answers: Answers, knowledge: Outcome | None, *, dry_run: bool
) -> dict[str, Any]:
    ruling = reviewed.ruling
    return {
        "schema": "qrspi/checkpoint-review/v1",
        "run": run,
        "task": ruling.task,
        "checkpoint": ruling.asked.number,
        "cycle": ruling.asked.cycle,
        "score": ruling.score,
        "self_reported": ruling.asked.request.smoothness,
        "verdict": ruling.verdict,
        "state": ruling.state,
        "deviations": list(ruling.asked.request.deviations),
        "flags": list(ruling.flags),
        "message": ruling.message,
        "checklists": checklists(),
        "answers": answers,
        "waiting": list(reviewed.waiting),
        "knowledge": None if knowledge is None else knowledge_part(knowledge),
        "anyway": ruling.anyway,
        "dry_run": dry_run,
    }


def review_lines(reviewed: Reviewed, knowledge: Outcome | None, *, dry_run: bool) -> list[str]:
    ruling = reviewed.ruling
    would = "would be " if dry_run else ""
    score = f"smoothness {ruling.score}, {MEANING[ruling.score].lower()}"
    lines = [
        f"{ruling.task}, checkpoint {ruling.asked.number}, request {ruling.asked.cycle}: "
        f"{would}{ruling.state} ({score})",
        *(f"  {one_line(line)}" for line in ruling.message.splitlines()),
        *(f"deviation: {one}" for one in ruling.asked.request.deviations),
        *(f"flag: {one}" for one in ruling.flags),
    ]
    others = [task for task in reviewed.waiting if task != ruling.task]
    if others:
        lines.append(f"Next in line: {', '.join(others)}.")
    if knowledge and (knowledge.done or knowledge.because):
        lines += knowledge_lines(knowledge, dry_run=dry_run)
    return [*lines, *checklist_lines("situation")]


def summary_document(run: str, phase: int, summary: Summary) -> dict[str, Any]:
    return {
        "schema": "qrspi/checkpoint-summary/v1",
        "run": run,
        "phase": phase,
        "tasks": [
            {"task": scored.task, "score": scored.score, "description": scored.meaning}
            for scored in summary.tasks
        ],
        "average": None if summary.average is None else round(summary.average, 2),
        "worst": summary.worst,
        "interpretation": summary.interpretation or None,
        "outlier": summary.outlier or None,
    }


def summary_lines(phase: int, summary: Summary) -> list[str]:
    lines = [f"Phase {phase} Smoothness Summary:"]
    for scored in summary.tasks:
        score = "-" if scored.score is None else f"{scored.score}/9"
        lines.append(f"  {scored.task}: {score} ({scored.meaning})")
    if summary.average is None:
        return [*lines, "Nothing is reviewed yet."]
    lines += [f"  Average: {summary.average:.1f}/9", f"  Worst: {summary.worst}/9"]
    lines.append(summary.interpretation)
    if summary.outlier:
        lines.append(f"{summary.outlier} is an outlier: a problem of that task, not of the plan.")
    return lines


class LintFault(NamedTuple):
    """A change of state without a heartbeat of that moment."""

    id: int
    task: str
    old: str
    new: str
    heartbeat: str | None
    at: str


def lint_document(run: str, faults: Sequence[LintFault], *, seen: bool) -> dict[str, Any]:
    return {
        "schema": "qrspi/checkpoint-lint/v1",
        "run": run,
        "ok": seen or not faults,
        "faults": [fault._asdict() for fault in faults],
        "seen": seen,
    }


def lint_lines(faults: Iterable[LintFault], *, seen: bool) -> list[str]:
    lines: list[str] = []
    for fault in faults:
        beat = (
            f"heartbeat {one_line(fault.heartbeat)}" if fault.heartbeat else "without a heartbeat"
        )
        change = f"{fault.old} to {fault.new} at {one_line(fault.at)}"
        lines.append(f"{one_line(fault.task)}: {change}, {beat}")
    if not lines:
        return ["Every change of state came with its heartbeat."]
    return [*lines, "Marked as seen."] if seen else lines


def knowledge_part(outcome: Outcome) -> dict[str, Any]:
    taken = [{**one._asdict(), "overlap": one.overlap.kind} for one in outcome.done]
    return {**outcome._asdict(), "done": taken}


def knowledge_document(run: str, outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    head = {"schema": "qrspi/checkpoint-knowledge/v1", "run": run}
    return {**head, **knowledge_part(outcome), "dry_run": dry_run}


def knowledge_lines(outcome: Outcome, *, dry_run: bool) -> list[str]:
    verb = "would be " if dry_run else ""
    lines = [
        f"{one_line(one.proposal)}: {one.overlap.kind}, {verb}{one.action} ({one_line(one.entry)})"
        for one in outcome.done
    ]
    lines += [f"deferred: {one_line(why)}" for why in outcome.because if outcome.deferred]
    lines += [f"left: {one_line(why)}" for why in outcome.because if not outcome.deferred]
    return lines or ["There are no proposals."]
