"""What `next` does and says when it sends nobody: everything mechanical, then what is needed."""

from __future__ import annotations

from collections.abc import Callable

from qrspi import engine
from qrspi.cli.session import Session
from qrspi.core.hints import TYPE_CHECKING, Any
from qrspi.core.named_tuple import NamedTuple
from qrspi.engine import Outcome
from qrspi.handlers.jobs.job import Options, question
from qrspi.render import outcomes
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.workspace import Workspace

if TYPE_CHECKING:
    from qrspi.core.model import RunState

EXIT_CODES = {"agent": 10, "human": 11}
LOOPS = ("loop", "loop-again")  # how a review loop goes on


class Request(NamedTuple):
    run: str | None = None
    dry_run: bool = False
    no_commit: bool = False
    present: bool = False
    anyway: bool = False
    exit_code: bool = False
    by: str = ""


def show(session: Session, **asked: Any) -> int:
    """Asked as the fields of `Request`."""
    return advance(session, Request(**asked))


def advance(
    session: Session, request: Request, besides: Callable[[Outcome], list[str]] = lambda _: []
) -> int:
    """The exit status. `besides`: more lines, about how the run stands then."""
    outcome = _taken(session, request)
    session.note(*notes(outcome))
    lines = [*outcomes.lines(outcome, request.dry_run), *besides(outcome)]
    session.answer(outcomes.document(outcome), lines)
    return status(request, outcome)


def _taken(session: Session, request: Request) -> Outcome:
    found = session.run(request.run, "next")
    workspace, path = place(session, found)
    options = options_of(session, request)
    if request.dry_run:
        return engine.rehearse(workspace, options, path)
    outcome = engine.advance(workspace, options, path)
    if not (options.ask and outcome.state.next.kind in LOOPS):
        return outcome
    answered = ask(session, outcome, options)
    return joined(outcome, engine.advance(workspace, answered, path))


def place(session: Session, found: RunDir) -> tuple[Workspace, str]:
    return Workspace(found.path), session.run_path(found)


def options_of(session: Session, request: Request) -> Options:
    return Options(
        request.by or session.surface,
        request.no_commit,
        request.present,
        request.anyway,
        session.lock_timeout,
        thorough=True,
        ask=session.interactive and not (request.present or request.dry_run),
    )


def notes(outcome: Outcome) -> list[str]:
    return [note for done in outcome.performed for note in done.notes]


def status(request: Request, outcome: Outcome) -> int:
    return EXIT_CODES.get(outcome.state.next.who, 0) if request.exit_code else 0


def ask(session: Session, outcome: Outcome, options: Options) -> Options:
    """How a review loop goes on, asked of the person at the terminal."""
    menu = outcome.state.next.options
    labels = [option.label for option in menu]
    chosen = menu[session.choose(_standing(outcome.state), labels)]
    asked = question(outcome.state.next)
    return options._replace(asked=asked, present=chosen.key == "present")


def _standing(state: RunState) -> str:
    """Where the question is asked: a command that sends agents has told nothing so far."""
    asked = state.next
    counts = next((step.counts for step in state.steps if step.step == asked.step), "")
    where = f"{state.run}, {asked.step} round {asked.round}{f' ({counts})' if counts else ''}"
    return f"{where}: {asked.because[0]}"


def joined(before: Outcome, after: Outcome) -> Outcome:
    return after._replace(performed=before.performed + after.performed)
