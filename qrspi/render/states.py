"""Where a run stands, as a document and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qrspi.core.compaction import checkpoint
from qrspi.core.compaction import line as compaction_line
from qrspi.core.model import Next, RunState, StepState
from qrspi.render import problems
from qrspi.render.columns import table
from qrspi.render.escape import one_line

BOXES = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


def run_document(state: RunState) -> dict[str, Any]:
    return {
        "run": state.run,
        "path": state.path,
        "pipeline": state.pipeline or None,
        "route": list(state.route),
        "phase": state.phase,
        "current_step": state.current_step,
        "complete": state.complete,
        "closed": state.closed,
        "steps": [_step_document(step) for step in state.steps],
        "next": next_document(state.next),
        "warnings": [problems.warning(item) for item in state.warnings],
        "errors": [_error(item) for item in state.errors],
    }


def _error(problem: Any) -> dict[str, Any]:
    return {**problems.violation(problem), "options": list(problem.options)}


def _step_document(step: StepState) -> dict[str, Any]:
    document: dict[str, Any] = step._asdict()
    return {key: value for key, value in document.items() if value is not None}


def next_document(answer: Next) -> dict[str, Any]:
    document: dict[str, Any] = answer._asdict()
    document |= {
        "step": answer.step or None,
        "round": answer.round or None,
        "because": list(answer.because),
        "missing": list(answer.missing),
        "inputs": list(answer.inputs),
        "prompts": list(answer.prompts),
        "options": [option._asdict() for option in answer.options],
        "kind": answer.kind or None,
    }
    if found := checkpoint(answer):
        document["compaction"] = {key: text for key, text in found._asdict().items() if text}
    return document


def run_page(state: RunState, *, explain: bool = False, width: int = 80) -> list[str]:
    """One run: its steps, what is odd, and the next action in one sentence."""
    kind = f"{state.pipeline or 'no usable'} pipeline, phase {state.phase}"
    lines = [f"{state.run}  ({kind}{', closed' if state.closed else ''})", ""]
    if state.steps:
        rows = [_step_row(step) for step in state.steps]
        lines += [*table(("STEP", "STATUS", "ROUNDS", "STAGE", "FINDINGS"), rows, width), ""]
    lines += notes(state)
    return lines + next_lines(state.next, explain=explain)


def notes(state: RunState) -> list[str]:
    shown = [f"error: {one_line(item.message)}" for item in state.errors]
    shown += [f"warning: {one_line(item.message)}" for item in state.warnings]
    return [*shown, ""] if shown else []


def _step_row(step: StepState) -> tuple[str, ...]:
    mark = BOXES[step.progress]
    kept = "" if step.kept is None else f"{step.kept} kept, {step.dropped or 0} dropped"
    rounds = str(step.rounds) if step.rounds else "-"
    return (f"{mark} {step.step}", step.status, rounds, step.stage, kept)


def next_lines(answer: Next, *, explain: bool = False) -> list[str]:
    lines = [f"Next: {one_line(answer.summary)}"]
    if explain:
        lines += [f"  because {one_line(reason)}" for reason in answer.because]
        lines += [f"  reads {one_line(name)}" for name in answer.inputs]
        lines += [f"  needs {one_line(name)}" for name in answer.missing]
    if answer.who == "human":
        lines += [f"  {option.key:<10} {one_line(option.label)}" for option in answer.options]
    if found := checkpoint(answer):
        lines += ["", compaction_line(found)]
    return lines


def checklist(state: RunState) -> list[str]:
    return [f"{BOXES[step.progress]} {step.step}" for step in state.steps]


def board(states: Iterable[RunState], width: int = 80) -> list[str]:
    """All runs: a line each, then what each waits for."""
    listed = list(states)
    lines = table(("RUN", "STEP", "ROUND", "ACTION", "WAITS FOR"), [_row(s) for s in listed], width)
    for state in listed:
        lines += ["", state.run, *(f"  {line}" for line in notes(state) if line)]
        lines.append(f"  Next: {one_line(state.next.summary)}")
    return lines


def _row(state: RunState) -> tuple[str, ...]:
    step = state.current_step or ("complete" if state.complete else "?")
    waits = {"nobody": "nobody", "engine": "qrspi next"}.get(state.next.who, state.next.who)
    number = str(state.next.round) if state.next.round else "-"
    return (state.run, step, number, state.next.action, "closed" if state.closed else waits)
