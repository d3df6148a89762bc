"""What the commands of the human gates share: the run, the step, and how a decision is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from qrspi import engine
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Misuse, Refusal
from qrspi.core.model import Problem, RunState
from qrspi.core.pipeline import STEP
from qrspi.handlers.changes import change_set as moves
from qrspi.handlers.changes.change_set import Done, Move
from qrspi.handlers.jobs.job import Job, Options
from qrspi.render.safe_text import one_line
from qrspi.world.runs.locate import RunDir
from qrspi.world.runs.workspace import Workspace


class Made(NamedTuple):
    """A decision that was carried out, or with --dry-run only looked at."""

    move: Move
    done: Done | None
    state: RunState


class Went(NamedTuple):
    """How far the run went on by itself, and what stopped it."""

    outcome: engine.Outcome
    trouble: Problem | None = None


class Desk:
    """One run that somebody decides about."""

    def __init__(self, session: Session, run: RunDir, verb: str) -> None:
        self.session = session
        self.run = run
        self.verb = verb
        self.workspace = Workspace(run.path)
        self.options = Options("cli", lock_timeout=session.lock_timeout, ask=session.interactive)
        self.path = session.run_path(run)

    def look(self) -> Job:
        return moves.look(self.workspace, self.options)

    def decide(self, build: Callable[[Job], Move], *, dry_run: bool) -> Made:
        if dry_run:
            return Made(build(self.look()), None, self._state())
        move, done = moves.make(self.workspace, self.options, self.verb, build)
        for note in done.performed.notes:
            self.session.note(one_line(note))
        return Made(move, done, self._state())

    def go_on(self) -> Went:
        """What was decided is on record by now; that the run goes on at once is a courtesy."""
        return Went(*engine.go_on(self.workspace, self.options, self.path))

    def _state(self) -> RunState:
        return derive(self.workspace, self.path)


def a_step(word: str | None, usage: str) -> str | None:
    """A STEP that has an artifact; None when none was given."""
    if word is None or word in STEP:
        return word
    known = ", ".join(STEP)
    text = f"{word!r} is no step with an artifact of its own; expected one of {known}"
    raise Misuse(Problem("usage", text, "", "STEP", word, known, usage))


def declined(what: str) -> Refusal:
    return Refusal(Problem("declined", f"{what}: you said no, nothing was changed"))


def need_yes(what: str, command: str) -> Refusal:
    """Where nobody can be asked."""
    text = f"{what}: without a terminal to ask at, that needs --yes"
    return Refusal(Problem("confirmation-needed", text, "", "--yes", hint=f"{command} --yes"))
