"""Where a run stands, as a document and as a page."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.derivation.compaction_advice import checkpoint
from qrspi.core.filenames import prompt_file
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.model import Next, NextKind, Option, Problem, RunState, StateOfTests, StepState
from qrspi.core.named_tuple import NamedTuple
from qrspi.render import problems
from qrspi.render.terminal import Paint, cells_of, fitted, one_line, plain, table

if TYPE_CHECKING:
    from qrspi.core.derivation.awaited_files import AwaitedFile
    from qrspi.world.runs.heartbeat import Daemon

BOXES = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
_STYLES = {"pending": "dim", "in_progress": "bold", "completed": "green"}


class Look(NamedTuple):
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
        "warnings": problems.warnings(state.warnings),
        "errors": [
            {**problems.violation(item), "options": list(item.options)} for item in state.errors
        ],
        "tests": tests_document(state.tests),
    }


def tests_document(tests: StateOfTests | None) -> dict[str, Any] | None:
    if tests is None:
        return None
    return {"state": tests.state, "summary": tests.sentence, "failures": list(tests.failures)}


def _step_document(step: StepState) -> dict[str, Any]:
    return {key: value for key, value in step._asdict().items() if value is not None}


def _awaited(awaited: AwaitedFile) -> dict[str, Any]:
    document = {"file": awaited.file, "kind": awaited.kind, "schema": awaited.schema}
    document["answer"] = "printed" if awaited.printed else "written"
    return document | ({"or": awaited.instead} if awaited.instead else {})


def next_document(following: Next) -> dict[str, Any]:
    from qrspi.core.derivation import awaited_files

    document: dict[str, Any] = {
        "action": following.action,
        "who": following.who,
        "summary": following.summary,
        "because": list(following.because),
        "step": following.step or None,
        "round": following.round or None,
        "missing": [_awaited(one) for one in awaited_files.awaited(following)],
        "waits_for": list(awaited_files.names(following)),
        "inputs": list(following.inputs),
        "prompts": [prompt_file(ask) for ask in (*following.asks, *following.beside)],
        "options": options(following.options),
        "command": following.runnable or None,
        "kind": following.kind or None,
    }
    if following.care:
        document["care"] = list(following.care)
    if following.kind == "pause":
        document["held"] = [item._asdict() for item in following.held]
        document |= {"auto_applied": 0, "to_apply": following.to_apply}
    if advice := checkpoint(following):
        document["compaction"] = {key: text for key, text in advice._asdict().items() if text}
    return document


def options(offered: Iterable[Option]) -> list[dict[str, str | None]]:
    return [{**one._asdict(), "command": one.command or None} for one in offered]


def run_page(state: RunState, look: Look = PLAIN) -> list[str]:
    kind = f"{state.pipeline or 'no usable'} pipeline, phase {state.phase}"
    title = look.paint(one_line(state.run), "bold")
    lines = [f"{title}  ({kind}{', closed' if state.closed else ''})", ""]
    if state.steps:
        lines += [*_step_table(state.steps, look), ""]
    lines += notes(state, look.paint)
    return lines + next_lines(state.next, explain=look.explain, paint=look.paint)


def notes(state: RunState, paint: Paint = plain) -> list[str]:
    """What is wrong or odd, except what the next action says anyway."""
    if not (state.errors or state.warnings or state.tests):
        return []
    wrong = tuple(item for item in state.errors if not state.next.summary.startswith(item.message))
    shown = [*_noted("error:", "red", wrong, paint), *warnings(state, paint)]
    if state.tests and state.tests.sentence not in state.next.summary:
        shown.append(tests_line(state.tests))
    return [*shown, ""] if shown else []


def tests_line(tests: StateOfTests) -> str:
    return one_line(f"Tests: {', '.join(filter(None, (tests.state, tests.detail)))}")


def warnings(state: RunState, paint: Paint = plain) -> list[str]:
    return _noted("warning:", "yellow", state.warnings, paint)


def _noted(word: str, style: str, items: Iterable[Problem], paint: Paint) -> list[str]:
    return [f"{paint(word, style)} {one_line(item.message)}" for item in items]


MOST_REASONS = 10  # below a sentence that counts the others
_STEP_COLUMNS = ("STEP", "STATUS", "ROUNDS", "STAGE", "FINDINGS")


def _step_table(steps: Iterable[StepState], look: Look) -> list[str]:
    """As many columns as the terminal has room for, at least step and status."""
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
    rounds = str(step.rounds) if step.rounds else "-"
    return (f"{mark} {step.step}", step.standing, rounds, step.stage, step.counts)


def next_lines(following: Next, *, explain: bool = False, paint: Paint = plain) -> list[str]:
    lines = [f"{paint('Next:', 'cyan')} {one_line(following.summary)}"]
    lines += [f"  {one_line(line)}" for line in following.care]
    if explain:
        from qrspi.core.derivation import awaited_files

        lines += [f"  because {one_line(reason)}" for reason in following.because]
        lines += [f"  reads {one_line(name)}" for name in following.inputs]
        lines += [f"  needs {one_line(name)}" for name in awaited_files.names(following)]
    elif following.action == "blocked" and following.kind != "config":  # whose errors are listed
        lines += [f"  and {one_line(reason)}" for reason in following.because[1:MOST_REASONS]]
    if following.who == "human":
        lines += _menu(following)
    return lines


# Menus that are answered by a command of their own, which takes no number.
ANSWERED_ELSEWHERE: frozenset[NextKind] = frozenset(
    """audit-rejected task checkpoint-task checkpoint-cap test-command onto
    trust replan""".split()  # type: ignore[arg-type]
)


def _menu(following: Next) -> list[str]:
    if following.kind in ("failure", "pause"):
        from qrspi.render import menus

        return ["", *menus.lines(following)]
    if following.kind == "config":
        return [f"  {option.key}) {one_line(option.label)}" for option in following.options]
    width = max((10, *(len(option.key) for option in following.menu)))
    ways = (f"{option.key:<{width}} {one_line(option.label)}" for option in following.menu)
    if following.kind in ANSWERED_ELSEWHERE:
        return [f"  {way}" for way in ways]
    return [f"  {at}) {way}" for at, way in enumerate(ways, 1)]


def checklist(state: RunState, look: Look = PLAIN) -> list[str]:
    """A run without a usable config has no steps; its problems are shown instead."""
    boxes = [f"{BOXES[step.progress]} {step.step}" for step in state.steps]
    wrong = () if boxes else state.errors
    title = look.paint(one_line(state.run), "bold")
    return [title, *boxes, *_noted("error:", "red", wrong, look.paint)]


_BOARD_COLUMNS = ("RUN", "STEP", "ROUND", "ACTION", "WAITS FOR")


def board(states: Iterable[RunState], look: Look = PLAIN) -> list[str]:
    """All runs: a line each, then what each waits for. On a narrow terminal there is no table, and
    each line stands below the name of its run."""
    listed = list(states)
    lines = table(_BOARD_COLUMNS, [_row(state) for state in listed], 1000)
    narrow = max(map(cells_of, lines)) > look.width
    if narrow:
        lines = []
    for state in listed:
        lines += ["", look.paint(one_line(state.run), "bold")]
        if narrow:
            lines.append(f"  {_step(state)}: {state.next.action} ({_waits_for(state)})")
        lines += [f"  {line}" for line in notes(state, look.paint) if line]
        lines.append(f"  {look.paint('Next:', 'cyan')} {one_line(state.next.summary)}")
    return lines[1:] if narrow else lines


def _row(state: RunState) -> tuple[str, ...]:
    number = str(state.next.round) if state.next.round else "-"
    return (state.run, _step(state), number, state.next.action, _waits_for(state))


def _step(state: RunState) -> str:
    return state.current_step or ("complete" if state.complete else "?")


def _waits_for(state: RunState) -> str:
    return "closed" if state.closed else _WHO[state.next.who]


_WHO = {"nobody": "nobody", "engine": "qrspi next", "agent": "agent", "human": "human"}


def daemon_line(daemon: Daemon) -> str:
    if not daemon.pid:
        return "A daemon watches these runs."
    return f"A daemon watches these runs: process {daemon.pid}, last look {one_line(daemon.beat)}."
