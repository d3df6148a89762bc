"""Where a run stands, as a document and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from qrspi.core.derivation.compaction_advice import checkpoint
from qrspi.core.derivation.compaction_advice import line as compaction_line
from qrspi.core.model import Next, Problem, RunState, StepState
from qrspi.render import problems
from qrspi.render.colour import Paint, plain
from qrspi.render.columns import cells_of, fitted, table
from qrspi.render.safe_text import one_line

if TYPE_CHECKING:
    from qrspi.world.runs.heartbeat import Daemon

BOXES = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
_STYLES = {"pending": "dim", "in_progress": "bold", "completed": "green"}


class Look(NamedTuple):
    """How pages are drawn."""

    width: int = 80
    paint: Paint = plain
    explain: bool = False


PLAIN = Look()


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


def _error(problem: Problem) -> dict[str, Any]:
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
        "held": [item._asdict() for item in answer.held],
    }
    if answer.kind != "pause":
        del document["held"], document["auto_applied"]
    if found := checkpoint(answer):
        document["compaction"] = {key: text for key, text in found._asdict().items() if text}
    return document


def run_page(state: RunState, look: Look = PLAIN) -> list[str]:
    """One run: its steps, what is odd, and the next action in one sentence."""
    kind = f"{state.pipeline or 'no usable'} pipeline, phase {state.phase}"
    title = look.paint(one_line(state.run), "bold")
    lines = [f"{title}  ({kind}{', closed' if state.closed else ''})", ""]
    if state.steps:
        lines += [*_step_table(state.steps, look), ""]
    lines += notes(state, look.paint)
    return lines + next_lines(state.next, explain=look.explain, paint=look.paint)


def notes(state: RunState, paint: Paint = plain) -> list[str]:
    """What is wrong or odd, but for the one thing that the next action says anyway."""
    wrong = tuple(item for item in state.errors if not state.next.summary.startswith(item.message))
    shown = [*_noted("error:", "red", wrong, paint), *warnings(state, paint)]
    return [*shown, ""] if shown else []


def warnings(state: RunState, paint: Paint = plain) -> list[str]:
    return _noted("warning:", "yellow", state.warnings, paint)


def _noted(word: str, style: str, items: Iterable[Problem], paint: Paint) -> list[str]:
    return [f"{paint(word, style)} {one_line(item.message)}" for item in items]


_STEP_COLUMNS = ("STEP", "STATUS", "ROUNDS", "STAGE", "FINDINGS")


def _step_table(steps: Iterable[StepState], look: Look) -> list[str]:
    """As many columns as the terminal has room for, never fewer than step and status."""
    listed = list(steps)
    rows = [_step_row(step) for step in listed]
    for count in range(len(_STEP_COLUMNS), 1, -1):
        drawn = table(_STEP_COLUMNS[:count], [row[:count] for row in rows], 1000)
        if count == 2 or max(map(cells_of, drawn)) <= look.width:
            break
    head, *body = (fitted(line, look.width) for line in drawn)
    styles = (_STYLES[step.progress] for step in listed)
    return [head, *map(look.paint, body, styles)]


def _step_row(step: StepState) -> tuple[str, ...]:
    mark = BOXES[step.progress]
    kept = "" if step.kept is None else f"{step.kept} kept, {step.dropped or 0} dropped"
    rounds = str(step.rounds) if step.rounds else "-"
    return (f"{mark} {step.step}", step.status, rounds, step.stage, kept)


def next_lines(answer: Next, *, explain: bool = False, paint: Paint = plain) -> list[str]:
    lines = [f"{paint('Next:', 'cyan')} {one_line(answer.summary)}"]
    if explain:
        lines += [f"  because {one_line(reason)}" for reason in answer.because]
        lines += [f"  reads {one_line(name)}" for name in answer.inputs]
        lines += [f"  needs {one_line(name)}" for name in answer.missing]
    if answer.who == "human":
        lines += _menu(answer)
    if found := checkpoint(answer):
        lines += ["", compaction_line(found)]
    return lines


def _menu(answer: Next) -> list[str]:
    if answer.kind in ("failure", "pause"):
        from qrspi.render import menus

        return ["", *menus.lines(answer)]
    width = max((len(option.key) for option in answer.options if len(option.key) > 10), default=10)
    return [f"  {option.key:<{width}} {one_line(option.label)}" for option in answer.options]


def checklist(state: RunState, look: Look = PLAIN) -> list[str]:
    """A run without a usable config has no steps: what is wrong stands in their place."""
    boxes = [f"{BOXES[step.progress]} {step.step}" for step in state.steps]
    wrong = () if boxes else state.errors
    title = look.paint(one_line(state.run), "bold")
    return [title, *boxes, *_noted("error:", "red", wrong, look.paint)]


_BOARD_COLUMNS = ("RUN", "STEP", "ROUND", "ACTION", "WAITS FOR")


def board(states: Iterable[RunState], look: Look = PLAIN) -> list[str]:
    """All runs: a line each, then what each waits for. Where the table has no room, the
    line stands with its run."""
    listed = list(states)
    lines = table(_BOARD_COLUMNS, [_row(state) for state in listed], 1000)
    narrow = max(map(cells_of, lines)) > look.width
    if narrow:
        lines = []
    for state in listed:
        lines += ["", look.paint(one_line(state.run), "bold")]
        lines += [f"  {_standing(state)}"] if narrow else []
        lines += [f"  {line}" for line in notes(state, look.paint) if line]
        lines.append(f"  {look.paint('Next:', 'cyan')} {one_line(state.next.summary)}")
    return lines[1:] if narrow else lines


def _row(state: RunState) -> tuple[str, ...]:
    number = str(state.next.round) if state.next.round else "-"
    return (state.run, _step(state), number, state.next.action, _waits_for(state))


def _standing(state: RunState) -> str:
    return f"{_step(state)}: {state.next.action} ({_waits_for(state)})"


def _step(state: RunState) -> str:
    return state.current_step or ("complete" if state.complete else "?")


def _waits_for(state: RunState) -> str:
    return "closed" if state.closed else _WHO[state.next.who]


_WHO = {"nobody": "nobody", "engine": "qrspi next", "agent": "agent", "human": "human"}


def daemon_line(daemon: Daemon | None) -> str:
    if daemon is None:
        return "No daemon watches these runs."
    if not daemon.pid:
        return "A daemon watches these runs."
    return f"A daemon watches these runs: process {daemon.pid}, last look {one_line(daemon.beat)}."
