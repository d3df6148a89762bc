"""Have task texts reviewed: send quality reviewers, five at once, and record their verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from qrspi.core.agents.dispatch_record import Record, State
from qrspi.core.agents.replies import Reply
from qrspi.core.agents.roles import Role
from qrspi.core.agents.spend import LedgerEntry
from qrspi.core.errors import Halt, Refusal
from qrspi.core.gates.quality import judgement as judgements
from qrspi.core.gates.quality.judgement import Judgement
from qrspi.core.gates.quality.quality_gate import STEP, asked
from qrspi.core.model import Next, Problem
from qrspi.core.tree import Fault
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.assignments import Assignment, assignments
from qrspi.handlers.agents.fan_out import Dispatcher, Errand, FanOut
from qrspi.handlers.agents.obtain_answer import Obtained
from qrspi.handlers.changes import change_set
from qrspi.handlers.gates import quality
from qrspi.handlers.gates.quality import QualityCheck, Reached, Wanted
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace

AT_ONCE = 5


def review(
    dispatcher: Dispatcher, wanted: Sequence[Wanted], drafts: Iterable[str] = ()
) -> VerdictIntake:
    by_task = {one.spec.key: one for one in wanted}
    unsaved = frozenset(drafts)
    errand = Errand(
        step=STEP,
        asks=tuple(map(asked, by_task)),
        intake=partial(VerdictIntake, wanted=by_task, drafts=unsaved),
        drafts={key: by_task[key].spec for key in unsaved},
        at_once=AT_ONCE,
    )
    took = dispatcher.send(errand)
    assert isinstance(took, VerdictIntake)
    return took


class VerdictIntake:
    def __init__(
        self,
        workspace: Workspace,
        options: Options,
        box: DispatchFolder,
        known: frozenset[tuple[str, int]],
        wanted: Mapping[str, Wanted],
        drafts: frozenset[str],
    ) -> None:
        self._workspace = workspace
        self._options = options
        self._box = box
        self._known = known  # the calls that are on the ledger already
        self._wanted = wanted
        self._drafts = drafts
        self.judgements: dict[str, Judgement] = {}  # by task, like the others
        self.failures: dict[str, Problem] = {}  # nobody answered, or nothing that can be read
        self.unwritten: dict[str, Problem] = {}  # verdicts that could not be written into the task
        self.stopped: Problem | None = None
        self.held: tuple[str, ...] = ()  # whose prompts wait for a host

    def put_back(self, orders: Iterable[Assignment], begun: Mapping[str, Record]) -> None:
        places = [one.place for one in orders if one.place in begun]
        self._box.keep_all({at: begun[at]._replace(state="pending") for at in places})

    def take(self, batch: Sequence[Obtained]) -> list[tuple[str, Problem | None]]:
        reached = [one for one in map(self._judged, batch) if one]
        with self._workspace.locked(self._options.lock_timeout, self._options.command):
            job = change_set.look(self._workspace, self._options)
            saved = [one for one in reached if one.judgement.task not in self._drafts]
            self.unwritten |= quality.put(job, saved)
            ledger.append(self._workspace, [one for got in batch for one in self._spent(got)])
            self._box.keep_all({got.order.place: self._kept(got) for got in batch})
        return [(got.order.label, self.failures.get(got.order.name)) for got in batch]

    def _judged(self, got: Obtained) -> Reached | None:
        key, reply = got.order.name, got.reply
        if isinstance(reply, Problem):
            if reply.code.startswith("budget-"):
                self.stopped = reply
            self.failures[key] = reply
            return None
        found = judged(self._wanted[key], reply.text)
        self.judgements[key] = found
        return Reached(found, "dispatched", digest(reply.text)) if found.is_new else None

    def _spent(self, got: Obtained) -> list[LedgerEntry]:
        fresh = [one for one in got.spent if (one.job, one.attempt) not in self._known]
        usable = isinstance(got.reply, Reply) and self.judgements[got.order.name].is_new
        return fresh if usable else [one._replace(outcome="failed") for one in fresh]

    def _kept(self, got: Obtained) -> Record:
        """An answer that is not in its task yet stays `sent`, so that the next command finds it."""
        key = got.order.name
        if key in self.failures:
            return self._box.record(got.order.place) or got.record
        state: State = "taken" if self.judgements[key].is_new else "failed"
        state = "sent" if key in self.unwritten else state
        return got.record._replace(state=state, files={})


def judged(wanted: Wanted, answer: str) -> Judgement:
    now = clock.now_utc()
    return judgements.by_reviewer(wanted.spec, answer, now, wanted.before, wanted.warnings)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fan_out(dispatcher: Dispatcher, workspace: Workspace, options: Options) -> FanOut | None:
    """For tasks that the quality gate holds because nobody has judged their texts."""
    job = change_set.look(workspace, options)
    keys = [one.target for one in job.next.asks if one.kind == "quality"]
    looked = QualityCheck(job)
    found = [looked.look(key, "live-cache-aware") for key in keys]
    wanted = [one for one in found if isinstance(one, Wanted)]
    if not wanted:
        return None
    came = review(dispatcher, wanted)
    written = [key for key, one in came.judgements.items() if one.is_new]
    quality.commit_verdicts(workspace, options, came.judgements.values())
    notes = tuple(f"{key}: {one.because}" for key, one in came.judgements.items())
    done = Performed("quality", "plan", 0, tuple(f"tasks/{key}.md" for key in written), notes)
    failures = tuple(
        problem._replace(message=f"{key}: {problem.message}")
        for key, problem in (*came.failures.items(), *came.unwritten.items())
        if problem is not came.stopped
    )
    return FanOut(done, failures, came.stopped, came.held, len(written))


def whom(job: Job, wanted: Wanted) -> str:
    order = _order_for(job, wanted)
    role: Role = order.role
    model = f" ({order.model.vendor}, {order.model.model})" if order.model else ""
    if order.means.prints:
        return f"{role.name}{model} would be sent over {order.means.transport}"
    return f"the prompt for {role.name}{model} would wait in {order.prompt_file}"


def _order_for(job: Job, wanted: Wanted) -> Assignment:
    key = wanted.spec.key
    asking = Next("decide", "agent", "", (), step=STEP, asks=(asked(key),))
    found = assignments(job._replace(next=asking, loop=None), drafts={key: wanted.spec})
    if found.unready:
        raise Halt(found.unready[0].problem)
    return found.ready[0]


def handed_in(job: Job, wanted: Wanted, answer: bytes, *, is_draft: bool) -> Reached:
    if not is_draft:
        _refuse_outdated(job, wanted)
    text = answer.decode("utf-8", "replace")
    found = judged(wanted, text)
    return Reached(found, "handed-in", digest(text))


def _refuse_outdated(job: Job, wanted: Wanted) -> None:
    """An answer about another text is not a verdict about the present one."""
    order = _order_for(job, wanted)
    waiting = job.workspace.read(order.prompt_file)
    if isinstance(waiting, Fault) or waiting == order.prompt:
        return
    key = wanted.spec.key
    text = (
        f"{order.prompt_file} asked about another text of {key} than there is now, so its answer "
        "is not a verdict: have the task reviewed again"
    )
    hint = f"qrspi quality check {job.run} {key} --mode live"
    raise Refusal(Problem("prompt-outdated", text, order.prompt_file, hint=hint))
