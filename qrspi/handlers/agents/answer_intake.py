"""Take answers in as they come: files, manifest, ledger and audit in one hold of the run's lock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from qrspi.core.agents.dispatch_record import Record, State
from qrspi.core.agents.replies import Reply
from qrspi.core.agents.spend import Entry
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEP
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Dispatch
from qrspi.handlers.agents import answer_files as taking
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.answer_files import Draft, Score, Taken
from qrspi.handlers.agents.assignments import Order
from qrspi.handlers.agents.obtain_answer import Obtained
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents.dispatch_folder import Mailbox
from qrspi.world.runs.workspace import Workspace


class Intake:
    """What has come of one fan-out so far."""

    def __init__(
        self,
        workspace: Workspace,
        options: Options,
        box: Mailbox,
        known: frozenset[tuple[str, int]],
    ) -> None:
        self._workspace = workspace
        self._options = options
        self._box = box
        self._known = known  # the calls that are on the ledger already
        self.files: list[str] = []  # as they came
        self._by_place: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        self._failures: dict[str, Problem] = {}  # by place
        self.stopped: Problem | None = None
        self._scores: dict[str, Score | Problem] = {}
        self._taken_names: Collection[str] = ()

    def _job(self) -> Job:
        """What the run waits for now. A config.md that was broken meanwhile ends the command;
        the answers lie in the mailbox until it is mended."""
        found = survey(self._workspace)
        if found.facts is None:
            raise Refusal(*found.state.errors)
        return Job(self._workspace, found.facts, found.loop, found.state.next, self._options)

    @property
    def used(self) -> int:
        """How many answers were of use."""
        return len(self._by_place)

    def files_of(self, orders: Iterable[Order]) -> tuple[str, ...]:
        """In the order of those who were sent, whoever was the first to answer."""
        return tuple(file for one in orders for file in self._by_place.get(one.place, ()))

    def failures_of(self, orders: Iterable[Order]) -> tuple[Problem, ...]:
        return tuple(self._failures[one.place] for one in orders if one.place in self._failures)

    def put_back(self, orders: Iterable[Order], begun: Mapping[str, Record]) -> None:
        """Those who were to be sent and were not, as a budget is reached."""
        listed = list(orders)
        with self._workspace.locked(self._options.lock_timeout, self._options.command):
            job = self._job()
            mark(job, {one.name: {"status": "pending"} for one in listed})
            places = [one.place for one in listed if one.place in begun]
            self._box.keep_all({at: begun[at]._replace(state="pending") for at in places})

    def take(self, batch: Sequence[Obtained]) -> list[tuple[str, Problem | None]]:
        """Whose answers they were, each with what was wrong about it."""
        with self._workspace.locked(self._options.lock_timeout, self._options.command):
            job = self._job()
            before = len(self.files), len(self.notes)
            self._write_scores(job, batch)
            outcomes = [self._one(job, got) for got in batch]
            self._put_on_record(job, batch, outcomes, before)
        return [
            (got.order.label, outcome if isinstance(outcome, Problem) else None)
            for got, outcome in zip(batch, outcomes, strict=True)
        ]

    def _write_scores(self, job: Job, batch: Sequence[Obtained]) -> None:
        """All scores of a batch at once: a fan-out of hundreds is not to wait for hundreds of
        syncs. One that a host has written meanwhile stands."""
        self._scores = {
            got.order.place: taking.score(job, got.order.target, got.reply.text)
            for got in batch
            if got.order.kind == "verify" and isinstance(got.reply, Reply) and _awaited(job, got)
        }
        good = {one.name: one.data for one in self._scores.values() if isinstance(one, Score)}
        self._taken_names = job.workspace.create_all(_round_folder(job), good) if good else ()

    def _one(self, job: Job, got: Obtained) -> Taken | Problem | None:
        """None for an answer that nobody waits for any more."""
        self.notes += got.notes
        outcome: Taken | Problem | None = (
            got.reply if isinstance(got.reply, Problem) else self._used(job, got, got.reply)
        )
        match outcome:
            case Taken():
                self.files += outcome.files
                self._by_place[got.order.place] = outcome.files
                self.notes += outcome.notes
            case Problem() if outcome.code.startswith("budget-"):
                self.stopped = outcome
            case Problem():
                self._failures[got.order.place] = _about(got.order, outcome)
            case None:
                self.notes.append(f"{got.order.name} answered too late: its reply is kept, unused")
        return outcome

    def _used(self, job: Job, got: Obtained, reply: Reply) -> Taken | Problem | None:
        if got.order.kind == "implement":
            return _reported(job, got.order)
        if not _awaited(job, got):
            self._keep(got, "late")
            return None
        try:
            taken = self._taken(job, got, reply.text)
        except Halt:
            raise
        except Refusal as refusal:
            taken = refusal.problem
        if isinstance(taken, Problem):
            self._keep(got, "failed", taken.message)
        return taken

    def _taken(self, job: Job, got: Obtained, text: str) -> Taken | Problem | None:
        match got.order.kind:
            case "review":
                return taking.review(job, got.order.target, text)
            case "verify":
                return self._scored(job, got)
            case "author":
                artifact = _artifact(got.order)
                draft = taking.drafted(job.workspace, job.facts.step, artifact, text)
            case "fix":
                draft = taking.fixed(job.workspace, job, text)
            case "implement":
                return _reported(job, got.order)
        return draft if isinstance(draft, Problem) else self._put(job, got, draft)

    def _scored(self, job: Job, got: Obtained) -> Taken | Problem | None:
        score = self._scores[got.order.place]
        if isinstance(score, Problem):
            return score
        if score.name in self._taken_names:
            self._keep(got, "late")
            return None
        return Taken((f"{_round_folder(job)}/{score.name}",), notes=score.notes)

    def _put(self, job: Job, got: Obtained, draft: Draft) -> Taken | Problem:
        begun = got.record.state == "taking"
        before = got.record.files if begun else got.order.before
        self._box.keep(got.order.place, got.record._replace(state="taking", files=before))
        taken = taking.put(job, draft, before)
        if isinstance(taken, Taken) and got.order.kind == "author":
            commit_whole(job, draft)
        return taken

    def _keep(self, got: Obtained, state: State, problem: str = "") -> None:
        record = got.record._replace(state=state, problem=problem, files={})
        self._box.keep(got.order.place, record)

    def _put_on_record(
        self,
        job: Job,
        batch: Sequence[Obtained],
        outcomes: Sequence[Taken | Problem | None],
        before: tuple[int, int],
    ) -> None:
        pairs = list(zip(batch, outcomes, strict=True))
        mark(
            job, {got.order.name: {"status": _status(outcome)} for got, outcome in pairs if outcome}
        )
        ledger.append(self._workspace, [one for pair in pairs for one in self._spent(*pair)])
        files, notes = tuple(self.files[before[0] :]), tuple(self.notes[before[1] :])
        audit.record(self._workspace, self._options.actor, performed(job, files, notes))
        taken = [got for got, outcome in pairs if isinstance(outcome, Taken)]
        self._box.keep_all(
            {got.order.place: got.record._replace(state="taken", files={}) for got in taken}
        )

    def _spent(self, got: Obtained, outcome: Taken | Problem | None) -> list[Entry]:
        fresh = [one for one in got.spent if (one.job, one.attempt) not in self._known]
        self._known |= {(one.job, one.attempt) for one in fresh}
        if outcome is None:
            return [one._replace(outcome="late") for one in fresh]
        if isinstance(outcome, Problem) and isinstance(got.reply, Reply):
            return [one._replace(outcome="failed") for one in fresh]
        return fresh


def _reported(job: Job, order: Order) -> Taken | Problem:
    """What an implementer did is in its work tree and its report; its words are only kept."""
    # Imported here: only runs that implement know of work trees.
    from qrspi.handlers.agents import implementer_prompt as implementers

    if implementers.has_reported(job, order.folder):
        return Taken(())
    text = f"the implementer ended without a report: `qrspi task report {job.run} {order.step}`"
    return Problem("no-report", text, expected="a report")


def _awaited(job: Job, got: Obtained) -> bool:
    return got.order.prompt_file in job.next.prompts


def _round_folder(job: Job) -> str:
    return job.round_loop.paths.directory


def performed(job: Job, files: tuple[str, ...], notes: tuple[str, ...]) -> Performed:
    return Performed(f"dispatch-{job.next.action}", job.next.step, job.next.round, files, notes)


def commit_whole(job: Job, draft: Draft) -> None:
    """Answers to single questions wait for the summary, and are committed with it."""
    if draft.artifact == STEP[job.facts.step].artifact:
        taking.commit(job)


def _artifact(order: Order) -> str:
    return STEP[order.step].artifact if order.name == "author" else f"research/{order.name}.md"


def _about(order: Order, problem: Problem) -> Problem:
    return problem._replace(message=f"{order.label}: {problem.message}")


def _status(outcome: Taken | Problem) -> str:
    return outcome.status if isinstance(outcome, Taken) else "failed"


def mark(job: Job, changes: Mapping[str, Mapping[str, str]]) -> None:
    """Say in the round's manifest how its dispatches stand; an author has no round yet."""
    loop = job.loop
    if loop is None or loop.manifest is None or not changes or loop.number != job.next.round:
        return
    known = {one.tag: one for one in loop.manifest.dispatches}
    for tag, fields in changes.items():
        known[tag] = known.get(tag, Dispatch(tag, "", "background"))._replace(**fields)
    manifest = loop.manifest._replace(dispatches=tuple(known.values()))
    job.workspace.write(loop.paths.manifest, manifests.render(manifest))
