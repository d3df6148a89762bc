"""Send the agents a run waits for, all at once, and put their answers into the run.

The run's lock is held to choose agents and to take answers in, never while agents work. One
dispatcher at a time holds the run's dispatch folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from qrspi.core import reviewers
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.transports import TRACES
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.errors import Halt, Refusal
from qrspi.core.gates.quality.task_spec import Spec
from qrspi.core.hints import Protocol
from qrspi.core.model import Ask, Next, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text.shell_words import quoted
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.core.trust import NamedThing
from qrspi.handlers.agents import (
    answer_intake,
    at_workers,
    awaited_agents,
    ledger,
    unused_answers,
)
from qrspi.handlers.agents.answer_intake import AnswerIntake
from qrspi.handlers.agents.assignments import (
    Assignment,
    Assignments,
    assignments,
    can_be_sent,
    not_awaited,
)
from qrspi.handlers.agents.at_workers import Progress
from qrspi.handlers.agents.dispatch_options import Listener, Sending
from qrspi.handlers.agents.ledger import Ledger, RunBudget
from qrspi.handlers.agents.obtain_answer import (
    FanOutContext,
    Obtained,
    begin_all,
    is_stored,
    lost_call,
    obtain,
)
from qrspi.handlers.changes import change_set
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.agents import dispatch_folder
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.dispatch_folder import DispatchFolder
from qrspi.world.agents.thread_pool import EXECUTORS
from qrspi.world.consent import permits
from qrspi.world.machine import hosts
from qrspi.world.runs.workspace import Workspace


class FanOut(NamedTuple):
    performed: Performed
    failures: tuple[Problem, ...] = ()
    stopped: Problem | None = None  # a limit that was reached
    held: tuple[str, ...] = ()  # agents that the host sends
    used: int = 0  # answers that were of use

    @property
    def goes_on(self) -> bool:
        return self.used > 0 and not (self.failures or self.stopped or self.held)


class Intake(Protocol):
    stopped: Problem | None  # a limit that was reached
    held: tuple[str, ...]  # agents that the host sends

    def take(self, batch: Sequence[Obtained]) -> list[tuple[str, Problem | None]]: ...

    def put_back(self, orders: Iterable[Assignment], begun: Mapping[str, Record]) -> None: ...


class Errand(NamedTuple):
    step: str  # which budget and which folder it belongs to
    asks: tuple[Ask, ...]
    intake: Callable[[Workspace, Options, DispatchFolder, frozenset[tuple[str, int]]], Intake]
    drafts: Mapping[str, Spec] = {}  # tasks that are in no file yet
    at_once: int | None = None


@contextmanager
def opened(
    workspace: Workspace, options: Options, sending: Sending, listener: Listener
) -> Iterator[Dispatcher]:
    config = configs.read(workspace.read("config.md", CONFIG_LIMIT))
    bad = [problem for problem in config.problems if problem.field.partition(".")[0] in _USED]
    if bad:
        raise Refusal(*(config_problems.for_run(problem, workspace) for problem in bad))
    names = tuple(provider.api_key_env for provider in (config.providers or {}).values())
    with (
        dispatch_folder.held(workspace.path, options.lock_timeout, options.command) as box,
        at_workers.mail(box, sending.how) as mail,
        DispatchContext(key_names=names, scripts=sending.how.scripts, mail=mail) as wire,
    ):
        dispatcher = Dispatcher(
            workspace=workspace,
            options=options._replace(actor="dispatch"),
            sending=sending,
            listener=listener,
            box=box,
            wire=wire,
            budget=RunBudget(config, sending.limits, workspace.name),
            noted=set(),
        )
        dispatcher.finish()
        yield dispatcher


# Elsewhere a bad value of these fields is only a warning. Here it would be a limit that does not
# hold, or the wrong vendor.
_USED = frozenset(
    """model_routing default_tier providers commands trusted_path validators budget
    second_reviewer_model""".split()
)


class Dispatcher(NamedTuple):
    workspace: Workspace
    options: Options
    sending: Sending
    listener: Listener
    box: DispatchFolder
    wire: DispatchContext
    budget: RunBudget
    noted: set[str]  # what is said only once, however many fan-outs there are

    def finish(self) -> None:
        with self.workspace.locked(self.options.lock_timeout, self.options.command):
            if job := self._job(survey(self.workspace)):
                unused_answers.finish(job, self.box)

    def fan_out(self) -> FanOut | None:
        """Send everybody the run waits for; None when it waits for no agent that can be sent."""
        with self.workspace.locked(self.options.lock_timeout, self.options.command):
            job = self._job(survey(self.workspace))
            if job is None or not can_be_sent(job):
                return None
            chosen = self._chosen(job)
            ours = [order for order in chosen.ready if order.means.prints]
            held = [order for order in chosen.ready if not order.means.prints]
            context = self._context(job)
            awaited_agents.put(job, held)
            if any(order.ask.kind in ("author", "fix") for order in ours):
                change_set.commit_edited(job)
            known = self._begun(job, ours, context)
            answer_intake.mark(job, {order.name: _as_sent(job, order) for order in ours})
            intake = AnswerIntake(self.workspace, self.options, self.box, known.calls)
        self._carry_out(ours, context, intake)
        return FanOut(
            performed=answer_intake.performed(job, intake.files_of(ours), tuple(intake.notes)),
            failures=intake.failures_of(ours),
            stopped=intake.stopped,
            held=tuple(order.label for order in held),
            used=intake.used,
        )

    def send(self, errand: Errand) -> Intake:
        with self.workspace.locked(self.options.lock_timeout, self.options.command):
            job = self._errand_job(errand)
            chosen = self._chosen(job, errand.drafts)
            ours = [order for order in chosen.ready if order.means.prints]
            held = [order for order in chosen.ready if not order.means.prints]
            context = self._context(job)
            awaited_agents.put(job, [order for order in held if order.name not in errand.drafts])
            known = self._begun(job, ours, context)
        intake = errand.intake(self.workspace, self.options, self.box, known.calls)
        intake.held = tuple(order.label for order in held)
        self._carry_out(ours, context, intake, errand.at_once)
        return intake

    def _errand_job(self, errand: Errand) -> Job:
        job = Job.of(self.workspace, survey(self.workspace), self.options)
        asking = Next("decide", "agent", "", (), step=errand.step, asks=errand.asks)
        return job._replace(next=asking, loop=None)

    def _job(self, surveyed: Survey) -> Job | None:
        if surveyed.facts is None or surveyed.state.closed:
            return None
        return Job.of(self.workspace, surveyed, self.options)

    def _chosen(self, job: Job, drafts: Mapping[str, Spec] | None = None) -> Assignments:
        """If one agent cannot be sent, everything stops before anything is paid for."""
        chosen = assignments(job, self.sending.how, drafts)
        if self.sending.only:
            chosen = _only(job, chosen, self.sending.only)
        self._check_second(job, chosen)
        if chosen.unready:
            raise Halt(*(order.problem for order in chosen.unready))
        if self.wire.mail:
            at_workers.check_sizes(chosen.ready)
        permits.require(job.project, job.run, _named(chosen))
        for trace in dict.fromkeys(TRACES[order.means.transport] for order in chosen.ready):
            self.listener.note(trace)
        for order in chosen.ready:
            for warning in order.route.warnings if isinstance(order.route, Route) else ():
                self._note_once(warning)
        return chosen

    def _check_second(self, job: Job, chosen: Assignments) -> None:
        if self.sending.how.scripts or self.sending.how.executor == "celery":
            return  # scripts or workers answer instead, or report that they cannot
        seen = hosts.second_vendor(job.facts.config, os.environ)
        if line := hosts.mismatch(seen, job.facts.config):
            self._note_once(line)
        second = [order for order in chosen.ready if reviewers.is_second(order.name)]
        if second and not seen.available:
            raise Halt(
                config_problems.for_run(_unavailable(second[0].name, seen.why), job.workspace)
            )
        for order in second:
            if isinstance(order.route, Problem):
                raise Halt(order.route)

    def _note_once(self, text: str) -> None:
        if text not in self.noted:
            self.noted.add(text)
            self.listener.note(text)

    def _context(self, job: Job) -> FanOutContext:
        return FanOutContext(
            run=job.run,
            mailbox=self.box,
            wire=self.wire,
            budget=self.budget,
            directory=job.project,
            trusted=permits.is_trusted(job.project, os.environ),
            begun={},
            progress=Progress(),
        )

    def _begun(self, job: Job, ours: list[Assignment], context: FanOutContext) -> Ledger:
        known = unused_answers.settle(job, self.box)
        self.budget.count(job.next.step, known.entries)
        begin_all((order for order in ours if not is_stored(order, context)), context)
        return known

    def _carry_out(
        self,
        waiting: list[Assignment],
        context: FanOutContext,
        intake: Intake,
        at_once: int | None = None,
    ) -> None:
        self.listener.begun(tuple(order.label for order in waiting))
        run = EXECUTORS[self.sending.how.executor]
        unsent = {order.place: order for order in waiting}
        given = self._given_out(unsent, context, intake)
        jobs = min(at_once or self.sending.at_once, self.sending.at_once, len(waiting))
        try:
            with closing(run(given, lambda order: obtain(order, context), jobs)) as answers:
                for batch in answers:
                    self._tell_progress(context)
                    for name, problem in intake.take(batch) if batch else ():
                        self.listener.ended(name, problem)
        except KeyboardInterrupt:
            self._cut_off(waiting, unsent, context, intake)
            raise
        self._tell_progress(context)
        for limit in context.budget.blind:
            self._note_once(_BLIND[limit])
        if unsent:
            intake.put_back(unsent.values(), context.begun)

    def _tell_progress(self, context: FanOutContext) -> None:
        mailed = self.wire.mail.notes() if self.wire.mail else ()
        for note in (*context.progress.lines(), *mailed):
            self.listener.note(note)

    def _cut_off(
        self,
        waiting: list[Assignment],
        unsent: Mapping[str, Assignment],
        context: FanOutContext,
        intake: Intake,
    ) -> None:
        """A call under way may cost money, so it goes on the ledger; a broker's job is not lost."""
        sent = [order for order in waiting if order.place not in unsent]
        going_on = at_workers.taken_back(self.wire.mail, self.box, sent)
        back = [order for order in sent if order.place in going_on and not going_on[order.place]]
        if unsent or back:
            intake.put_back((*unsent.values(), *back), context.begun)
        self.box.close()
        with self.workspace.locked(self.options.lock_timeout, self.options.command):
            known = ledger.read(self.workspace).calls
            lost = [call for order in sent if (call := lost_call(order, context, known))]
            ledger.append(self.workspace, lost)
        self.listener.cut_off(self.workspace.name, len(lost), sum(going_on.values()))

    def _given_out(
        self, unsent: dict[str, Assignment], context: FanOutContext, intake: Intake
    ) -> Iterator[Assignment]:
        """Answers that are there already come first, since they cost nothing."""
        for order in sorted(unsent.values(), key=lambda order: order.place in context.begun):
            if order.place in context.begun and (stop := context.budget.admit()):
                intake.stopped = stop
                return
            del unsent[order.place]
            yield order


def _named(chosen: Assignments) -> Iterator[NamedThing]:
    for order in chosen.ready:
        second = (order.again,) if isinstance(order.again, Assignment) else ()
        yield from (each.means.named for each in (order, *second) if each.means.named)


def _only(job: Job, chosen: Assignments, names: tuple[str, ...]) -> Assignments:
    called = [(order, {order.label, order.ask.label}) for order in chosen.ready]
    known = {order.name for order in chosen.unready}.union(*(own for _, own in called))
    for name in names:
        if name not in known:
            raise Refusal(not_awaited(job.run, name, chosen))
    return Assignments(
        tuple(order for order, own in called if not own.isdisjoint(names)),
        tuple(order for order in chosen.unready if order.name in names),
    )


def _as_sent(job: Job, order: Assignment) -> dict[str, str]:
    reply = quoted(f"{job.workspace.path}/{order.place}.reply")
    about = f"{job.run} {order.step} --round {order.round}"
    is_review = order.ask.kind == "review"
    return {
        "agent": order.role.name,
        "mode": "background",
        "status": "dispatched",
        "host": hosts.detect(os.environ),
        "vendor": order.model.vendor if order.model else "",
        "model": order.model.model if order.model else "",
        "prompt_file": order.prompt_file,
        "job_id": order.job_id(job.run),
        "await_cmd": f"qrspi dispatch run {job.run} --only {order.name}",
        "split_cmd": f"qrspi split {reply} --tag {order.name} {about}" if is_review else "",
    }


_BLIND = {
    "usd": "[budget] not every agent says what a call costs: those calls are not counted in USD; "
    "limit calls or tokens instead",
    "tokens": "[budget] not every agent says how many tokens a call took: for those an estimate by "
    "the length of the texts is counted; limit calls to be sure",
}


def _unavailable(name: str, why: str) -> Problem:
    return Problem(
        "second-reviewer-unavailable",
        f"{name} cannot be sent: second_reviewer in config.md is true, but no second reviewer is "
        f"available ({why})",
        file="config.md",
        field="second_reviewer",
        found="true",
        hint="qrspi config set second_reviewer false",
    )
