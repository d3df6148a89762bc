"""What the commands of the human gates share: how a decision is made, and how it is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from qrspi import engine
from qrspi.cli.session import Session
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Refusal
from qrspi.core.hints import Any
from qrspi.core.model import Problem, RunState
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED, STEP
from qrspi.core.tree import exists
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import ChangeSet, Done
from qrspi.handlers.jobs.carry_out import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.render import outcomes, run_page
from qrspi.world.runs.dry_run import DryRunWorkspace
from qrspi.world.runs.workspace import Workspace

Plan = Callable[[Job], ChangeSet]
_ANYWAY = (  # of a closed run too
    *("task clean", "comment add", "comment resolve", "audit", "quality check", "quality batch"),
    *("quality debt", "checkpoint list", "checkpoint summary", "checkpoint lint"),
)
GOES_ON = ("approve", "rerun-tests", "review-tests")


class MadeDecision(NamedTuple):
    """A decision that was carried out; with --dry-run it was only planned, and `done` is None."""

    change: ChangeSet
    done: Done | None


class DecisionCommand:
    """One run that somebody decides about. `run` is the word that names it; with `step`, it must be
    a run that can enter this step."""

    def __init__(
        self, session: Session, verb: str, run: str | None, step: str | None = None
    ) -> None:
        self.session = session
        self.run = session.run_for(run, step)
        self.verb = verb
        self.workspace = Workspace(self.run.path)
        self.options = Options(
            session.surface, lock_timeout=session.lock_timeout, ask=session.interactive
        )
        self.path = session.run_path(self.run)
        self._must_be_open()  # nobody is asked for what is refused

    def look(self) -> Job:
        return change_set.look(self.workspace, self.options)

    def decide(self, plan: Plan, *, dry_run: bool) -> MadeDecision:
        with self.deciding(dry_run=dry_run) as job:
            return self.make(job, plan(job))

    @contextmanager
    def deciding(self, *, dry_run: bool) -> Iterator[Job]:
        """The run, held until the decision about it is made."""
        self._must_be_open()
        if dry_run:
            yield change_set.look(self.workspace, self.options._replace(dry_run=True))
            return
        with change_set.deciding(self.workspace, self.options, self.verb) as job:
            yield job

    def _must_be_open(self) -> None:
        if self.verb not in _ANYWAY and exists(self.workspace, CLOSED):
            # Imported here: most runs are open.
            from qrspi.handlers.runs import close_run

            close_run.must_be_open(self.workspace)

    def make(self, job: Job, change: ChangeSet) -> MadeDecision:
        if job.options.dry_run:
            return MadeDecision(change, None)
        done = change_set.carry_out(job, change)
        self.session.note(*done.performed.notes)
        return MadeDecision(change, done)

    def locked(self) -> AbstractContextManager[Workspace]:
        return self.workspace.locked(self.options.lock_timeout, f"qrspi {self.verb}")

    def carry_out(self, handler: Callable[[Job], Performed]) -> Performed:
        with self.locked():
            return carry_out(handler, self.look())

    def confirm(self, question: str, otherwise: str) -> None:
        if not self.session.confirm(question):
            text = f"{otherwise}: you said no, nothing was changed"
            raise Refusal(Problem("declined", text))

    def must_be_asked(self, what: str, command: str) -> None:
        """Refuses where there is nobody to ask."""
        if not self.session.interactive:
            text = f"{what}: without a terminal to ask at, that needs --yes"
            hint = f"{command} --yes"
            raise Refusal(Problem("confirmation-needed", text, field="--yes", hint=hint))

    def confirm_rewind(self, change: ChangeSet, command: str) -> None:
        artifact, resets = STEP[change.step].artifact, change.concerns
        what = f"rewind to {artifact} would return {', '.join(resets)} to draft"
        self.must_be_asked(what, command)
        self.session.note(*(f"  {name} would return to draft" for name in resets))
        self.confirm(f"Confirm rewind to {artifact}? (y/n)", f"no rewind to {artifact}")

    def answer(
        self, made: MadeDecision, head: str | Iterable[str], below: Iterable[str] = (), **more: Any
    ) -> None:
        self._answer(made, head, below, self._after(made), more)

    def answer_rewind(self, made: MadeDecision, **more: Any) -> None:
        verb = "Back to" if made.done else "Would go back to"
        target, resets = made.change.step, list(made.change.concerns)
        head = f"{verb} {STEP[target].artifact}."
        self.answer(made, head, **more, target=target, resets=resets)

    def answer_and_go_on(self, made: MadeDecision, head: str, **more: Any) -> None:
        """As `answer`, but after an approval, and after a decision about tests, the run goes on at
        once. Whatever stops it then, the decision is on record."""
        if made.done and made.change.handler in GOES_ON:
            outcome, trouble = engine.go_on(self.workspace, self.options, self.path)
        else:
            outcome, trouble = engine.Outcome((), self._after(made)), None
        more |= outcomes.went_on_document(outcome, trouble)
        below = outcomes.went_on_lines(outcome, trouble)
        self._answer(made, head, below, outcome.state, more)

    def _after(self, made: MadeDecision) -> RunState:
        """After a decision that was only planned, the run as it would be."""
        if made.done:
            return derive(self.workspace, self.path)
        with DryRunWorkspace(self.workspace.path).locked() as stage:
            for edit in made.change.edits:
                change_set.write(stage, edit)
            return derive(stage, self.path)

    def _answer(
        self,
        made: MadeDecision,
        head: str | Iterable[str],
        below: Iterable[str],
        state: RunState,
        more: dict[str, Any],
    ) -> None:
        schema = self.verb.replace(" ", "-")
        document = outcomes.decision_document(schema, self.run.name, *made, state.next, **more)
        self.session.answer(
            document,
            [
                *([head] if isinstance(head, str) else head),
                *outcomes.decision_lines(*made, in_git=self.workspace.in_git),
                *below,
                *(["", *run_page.next_lines(state.next)] if made.done else []),
            ],
        )
