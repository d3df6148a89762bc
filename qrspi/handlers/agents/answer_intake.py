"""Take answers in as they come, all that they change under one hold of the run's lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from qrspi.core.agents.dispatch_record import Record, State
from qrspi.core.agents.replies import Reply
from qrspi.core.agents.spend import LedgerEntry
from qrspi.core.errors import Halt, Refusal
from qrspi.core.hints import assert_never
from qrspi.core.model import TESTS, Problem
from qrspi.core.records.audit_trail import Answer
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds.manifest import Dispatch
from qrspi.core.tree import exists
from qrspi.handlers.agents import answer_files, ledger
from qrspi.handlers.agents.answer_files import Draft, Score, Taken
from qrspi.handlers.agents.assignments import Assignment
from qrspi.handlers.agents.obtain_answer import DRAFTING, Obtained
from qrspi.handlers.changes.change_set import look
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.runs.workspace import Workspace

Outcome = Taken | Problem | None  # None: nobody waits for this answer any more


class AnswerIntake:
    """What has come from one fan-out. If config.md breaks meanwhile, answers stay in their
    folder."""

    def __init__(
        self,
        workspace: Workspace,
        options: Options,
        box: DispatchFolder,
        known: frozenset[tuple[str, int]],
    ) -> None:
        self._workspace = workspace
        self._options = options
        self._box = box
        self._known = known  # the calls that are already on the ledger
        self._outcomes: dict[str, Outcome] = {}  # by place
        self._by_hand = 0  # answers of agents that had already written their files
        self.notes: list[str] = []
        self.stopped: Problem | None = None
        self.held: tuple[str, ...] = ()

    @property
    def used(self) -> int:
        """An author that writes its own file only says so, and the run goes on from the file."""
        taken = sum(isinstance(outcome, Taken) for outcome in self._outcomes.values())
        return taken + self._by_hand

    def files_of(self, orders: Iterable[Assignment]) -> tuple[str, ...]:
        """In the order in which the agents were sent, not in which they answered."""
        found = ((order, self._outcomes.get(order.place)) for order in orders)
        return tuple(
            file
            for order, one in found
            if isinstance(one, Taken)
            for file in (one.files or self._own_report(order))
        )

    def _own_report(self, order: Assignment) -> tuple[str, ...]:
        """An implementer reports by a command of its own, so its file is on record already."""
        if order.ask.kind != "implement":
            return ()
        from qrspi.core.records.task_records import report_file, tests_file

        paths = (report_file(order.step), tests_file(order.step))
        written = paths[1:] if order.ask.target == TESTS else paths[:1]
        return tuple(path for path in written if exists(self._workspace, path))

    def failures_of(self, orders: Iterable[Assignment]) -> tuple[Problem, ...]:
        outcomes = ((order.label, self._outcomes.get(order.place)) for order in orders)
        return tuple(
            problem._replace(message=f"{label}: {problem.message}")
            for label, problem in outcomes
            if isinstance(problem, Problem) and not _is_budget(problem)
        )

    def put_back(self, orders: Iterable[Assignment], begun: Mapping[str, Record]) -> None:
        listed = list(orders)
        with self._locked():
            job = look(self._workspace, self._options)
            mark(job, {order.name: {"status": "pending"} for order in listed})
            places = [order.place for order in listed if order.place in begun]
            self._box.keep_all({at: begun[at]._replace(state="pending") for at in places})

    def take(self, batch: Sequence[Obtained]) -> list[tuple[str, Problem | None]]:
        with self._locked():
            job = look(self._workspace, self._options)
            scores = _write_scores(job, batch)
            outcomes = [self._outcome(job, got, scores) for got in batch]
            self._put_on_record(job, list(zip(batch, outcomes, strict=True)))
        return [
            (got.order.label, outcome if isinstance(outcome, Problem) else None)
            for got, outcome in zip(batch, outcomes, strict=True)
        ]

    def _locked(self) -> AbstractContextManager[object]:
        return self._workspace.locked(self._options.lock_timeout, self._options.command)

    def _outcome(self, job: Job, got: Obtained, scores: Mapping[str, Outcome]) -> Outcome:
        if isinstance(got.reply, Problem):
            return got.reply
        try:
            outcome = self._judged(job, got, got.reply.text, scores)
        except Halt:
            raise
        except Refusal as refusal:
            outcome = refusal.problem
        if outcome is None:
            self._keep(got, "late")
        elif isinstance(outcome, Problem):
            self._keep(got, "failed", outcome)
        return outcome

    def _judged(self, job: Job, got: Obtained, text: str, scores: Mapping[str, Outcome]) -> Outcome:
        if got.order.ask.kind == "implement":
            return _reported(job, got.order)
        return self._taken(job, got, text, scores) if _is_awaited(job, got) else None

    def _taken(self, job: Job, got: Obtained, text: str, scores: Mapping[str, Outcome]) -> Outcome:
        ask = got.order.ask
        match ask.kind:
            case "review":
                return answer_files.review(job, ask.target, text)
            case "verify":
                return scores[got.order.place]
            case "author" | "research-question":
                draft = answer_files.written(job, ask, text)
            case "fix":
                draft = answer_files.fixed(job.workspace, job, text)
            case "implement" | "quality":
                raise ValueError(f"{ask.kind} is taken in elsewhere")
            case _:
                assert_never(ask.kind)
        if isinstance(draft, Problem):
            return draft
        begun = got.record.state == "taking"
        same = None if begun or ask.kind == "fix" else answer_files.unchanged(job, draft)
        return same or self._put(job, got, draft)

    def _put(self, job: Job, got: Obtained, draft: Draft) -> Taken | Problem:
        begun = got.record.state == "taking"
        if not begun:
            self._box.keep_asked(got.order.place, got.order.prompt)
        before = got.record.files if begun else got.order.before
        self._box.keep(got.order.place, got.record._replace(state="taking", files=before))
        taken = answer_files.put(job, draft, before)
        if isinstance(taken, Taken) and got.order.ask.kind == "author":
            answer_files.commit_whole(job, draft)
        return taken

    def _keep(self, got: Obtained, state: State, problem: Problem | None = None) -> None:
        """A text that somebody else changed meanwhile is no fault of the answer."""
        why = problem.message if problem else ""
        told = why if problem and problem.code != "changed-meanwhile" else ""
        record = got.record._replace(state=state, problem=why, files={}, rejected=told)
        self._box.keep(got.order.place, record)

    def _put_on_record(self, job: Job, pairs: list[tuple[Obtained, Outcome]]) -> None:
        files: list[str] = []
        notes: list[str] = []
        for got, outcome in pairs:
            self._outcomes[got.order.place] = outcome
            notes += got.notes
            if isinstance(outcome, Taken):
                files += outcome.files
                notes += outcome.notes
            elif outcome is None and got.order.ask.kind in DRAFTING:
                self._by_hand += 1
                kept = f".qrspi/dispatch/{got.order.place}.reply"
                notes.append(f"{got.order.name}: its file is there; what it printed is in {kept}")
            elif outcome is None:
                notes.append(f"{got.order.name} answered too late: its reply is kept, unused")
            elif _is_budget(outcome):
                self.stopped = outcome
        self.notes += notes
        mark(job, {got.order.name: {"status": _status(known)} for got, known in pairs if known})
        ledger.append(self._workspace, [one for pair in pairs for one in self._spent(*pair)])
        done = performed(job, tuple(files), tuple(notes))
        done = done._replace(answers=tuple(_answers(pairs)))
        carry_out.record(self._workspace, self._options.actor, done)
        taken = [got for got, outcome in pairs if isinstance(outcome, Taken)]
        self._box.keep_all(
            {
                got.order.place: got.record._replace(state="taken", files={}, rejected="")
                for got in taken
            }
        )

    def _spent(self, got: Obtained, outcome: Outcome) -> list[LedgerEntry]:
        """A good answer that only lacks its second try has not failed."""
        fresh = [one for one in got.spent if (one.job, one.attempt) not in self._known]
        if outcome is None:
            return [one._replace(outcome="late") for one in fresh]
        if isinstance(outcome, Problem) and isinstance(got.reply, Reply):
            return [one._replace(outcome="failed") for one in fresh]
        return fresh


def _answers(pairs: Iterable[tuple[Obtained, Outcome]]) -> Iterator[Answer]:
    for got, outcome in pairs:
        if isinstance(outcome, Taken) and outcome.files and isinstance(got.reply, Reply):
            known = got.record
            name, files = got.order.name, outcome.files
            yield Answer(name, known.answer, files, known.job_id, known.worker)


def _write_scores(job: Job, batch: Sequence[Obtained]) -> dict[str, Outcome]:
    """All scores of a batch at once, since each write is a sync. A score of a host stays."""
    scores = {
        got.order.place: answer_files.score(
            job,
            got.order.ask.target,
            got.reply.text,
            got.order.model.model if got.order.model else "",
        )
        for got in batch
        if got.order.ask.kind == "verify" and isinstance(got.reply, Reply) and _is_awaited(job, got)
    }
    if not scores:
        return {}
    folder = job.round_loop.paths.directory
    good = {score.name: score.data for score in scores.values() if isinstance(score, Score)}
    answer_files.put_scores_aside(job, good)
    there_before = job.workspace.create_all(folder, good) if good else ()

    def outcome(score: Score | Problem) -> Outcome:
        if isinstance(score, Problem):
            return score
        late = score.name in there_before
        return None if late else Taken((f"{folder}/{score.name}",), notes=score.notes)

    return {place: outcome(score) for place, score in scores.items()}


def _reported(job: Job, order: Assignment) -> Taken | Problem:
    """What an implementer did is in its work tree and its report; its answer is only kept."""
    from qrspi.handlers.tasks import reports

    waits = reports.state_of(job, order.step).next
    if waits is None or order.ask not in waits.asks:
        return Taken(())
    who = "test writer" if order.ask.target == TESTS else "implementer"
    return Problem("no-report", f"the {who} ended without a report", expected="a report")


def _is_awaited(job: Job, got: Obtained) -> bool:
    return got.order.ask in job.next.asks


def _is_budget(problem: Problem) -> bool:
    return problem.code.startswith("budget-")


def performed(job: Job, files: tuple[str, ...], notes: tuple[str, ...]) -> Performed:
    return Performed(f"dispatch-{job.next.action}", job.next.step, job.next.round, files, notes)


def _status(outcome: Taken | Problem) -> str:
    return outcome.status if isinstance(outcome, Taken) else "failed"


def mark(job: Job, changes: Mapping[str, Mapping[str, str]]) -> None:
    """An author has no round yet."""
    loop = job.loop
    if loop is None or loop.manifest is None or not changes or loop.round != job.next.round:
        return
    known = {dispatch.tag: dispatch for dispatch in loop.manifest.dispatches}
    for tag, fields in changes.items():
        known[tag] = known.get(tag, Dispatch(tag, "", "background"))._replace(**fields)
    manifest = loop.manifest._replace(dispatches=tuple(known.values()))
    job.workspace.write(loop.paths.manifest, manifests.render(manifest))
