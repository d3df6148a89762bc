"""Send the agents a run waits for, all at once, and put their answers into the run.

The run's lock is held to choose and to take, never while agents work; whatever was read before
is read again then. One dispatcher at a time holds the run's mailbox.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.transports import TRACES
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.derivation.derive import Survey, survey
from qrspi.core.errors import Halt, Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.agents import answer_intake as intaking
from qrspi.handlers.agents import prompt_files as prompts
from qrspi.handlers.agents import unused_answers as leftovers
from qrspi.handlers.agents.answer_intake import Intake
from qrspi.handlers.agents.assignments import Order, Orders, kind_of, not_awaited, orders
from qrspi.handlers.agents.dispatch_options import Listener, Sending
from qrspi.handlers.agents.ledger import Purse
from qrspi.handlers.agents.obtain_answer import Office, begin_all, is_stored, obtain
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.handlers.rounds import expected_dispatches as lineup
from qrspi.world.agents import dispatch_folder as mailbox
from qrspi.world.agents.dispatch_context import Wire
from qrspi.world.agents.executors import EXECUTORS
from qrspi.world.machine import hosts
from qrspi.world.runs.workspace import Workspace


class FanOut(NamedTuple):
    performed: Performed
    failures: tuple[Problem, ...] = ()
    stopped: Problem | None = None  # a limit that was reached
    held: tuple[str, ...] = ()  # agents that are the host's to send
    used: int = 0  # answers that were of use

    @property
    def goes_on(self) -> bool:
        return self.used > 0 and not (self.failures or self.stopped or self.held)


@contextmanager
def opened(
    workspace: Workspace, options: Options, sending: Sending, listener: Listener
) -> Iterator[Desk]:
    """A desk to send from, until the command ends."""
    config = configs.read(workspace.read("config.md", CONFIG_LIMIT))
    _refuse_bad(config)
    names = tuple(one.api_key_env for one in (config.providers or {}).values())
    with (
        mailbox.held(workspace.path, options.lock_timeout, options.command) as box,
        Wire(key_names=names, scripts=sending.how.scripts) as wire,
    ):
        desk = Desk(workspace, options, sending, listener, box, wire, Purse(config, sending.limits))
        desk.finish()
        yield desk


# A field that is only a warning elsewhere: here a bad one would be a limit that does not hold,
# or a vendor that is not the one meant.
_USED = frozenset(
    """model_routing default_tier providers commands trusted_path validators budget
    second_reviewer_model""".split()
)


def _refuse_bad(config: Config) -> None:
    bad = [one for one in config.problems if one.field.partition(".")[0] in _USED]
    if bad:
        raise Refusal(bad[0], *bad[1:])


class Desk:
    """One command's sending: its way to the agents, and what it may still spend."""

    def __init__(
        self,
        workspace: Workspace,
        options: Options,
        sending: Sending,
        listener: Listener,
        box: mailbox.Mailbox,
        wire: Wire,
        purse: Purse,
    ) -> None:
        self._workspace = workspace
        self._options = options._replace(actor="dispatch")
        self._sending = sending
        self._listener = listener
        self._box = box
        self._wire = wire
        self._purse = purse
        self._told: set[str] = set()

    def finish(self) -> None:
        """What a killed command had begun to write."""
        with self._workspace.locked(self._options.lock_timeout, self._options.command):
            if job := self._job(survey(self._workspace)):
                leftovers.finish(job, self._box)

    def fan_out(self) -> FanOut | None:
        """Send everybody the run waits for; None when it waits for no agent that can be sent."""
        with self._workspace.locked(self._options.lock_timeout, self._options.command):
            job = self._job(survey(self._workspace))
            if job is None or job.next.who != "agent" or kind_of(job) is None:
                return None
            chosen = self._chosen(job)
            waiting = [one for one in chosen.ready if one.means.prints]
            held = tuple(one.label for one in chosen.ready if not one.means.prints)
            office = self._office(job)
            intake = self._prepared(job, chosen, office)
        self._carry_out(waiting, office, intake)
        done = intaking.performed(job, intake.files_of(waiting), tuple(intake.notes))
        failures = intake.failures_of(waiting)
        return FanOut(done, failures, intake.stopped, held, intake.used)

    def _job(self, found: Survey) -> Job | None:
        if found.facts is None or found.state.closed:
            return None
        return Job(self._workspace, found.facts, found.loop, found.state.next, self._options)

    def _chosen(self, job: Job) -> Orders:
        """Whom to send. What cannot be sent stops everything before anything is paid for."""
        found = orders(job, self._sending.how)
        if self._sending.only:
            found = _only(job, found, self._sending.only)
        self._check_second(job, found)
        if found.unready:
            first, *more = (one.problem for one in found.unready)
            raise Halt(first, *more)
        return found

    def _check_second(self, job: Job, found: Orders) -> None:
        if self._sending.how.scripts:
            return
        seen = hosts.second_vendor(job.facts.config, os.environ)
        if line := hosts.mismatch(seen, job.facts.config):
            self._note_once(line)
        second = [one for one in found.ready if lineup.is_second(one.name)]
        if second and not seen.available:
            raise Halt(_unavailable(second[0].name, seen.why))
        for one in second:
            if isinstance(one.route, Problem):
                raise Halt(one.route)

    def _note_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._listener.note(text)

    def _office(self, job: Job) -> Office:
        trusted = hosts.is_trusted(job.project, os.environ)
        return Office(job.run, self._box, self._wire, self._purse, job.project, trusted, {})

    def _prepared(self, job: Job, chosen: Orders, office: Office) -> Intake:
        """Everything that is on record before the first agent is sent."""
        for trace in dict.fromkeys(TRACES[one.means.transport] for one in chosen.ready):
            self._listener.note(trace)
        for one in chosen.ready:
            for warning in one.route.warnings if isinstance(one.route, Route) else ():
                self._note_once(warning)
        ours = [one for one in chosen.ready if one.means.prints]
        prompts.put(job, tuple(one for one in chosen.ready if not one.means.prints))
        known = leftovers.settle(job, self._box)
        self._purse.count(job.next.step, known.entries)
        begin_all((one for one in ours if not is_stored(one, office)), office)
        intaking.mark(job, {one.name: _as_sent(job, one) for one in ours})
        return Intake(self._workspace, self._options, self._box, known.calls)

    def _carry_out(self, waiting: list[Order], office: Office, intake: Intake) -> None:
        self._listener.begun(tuple(one.label for one in waiting))
        run = EXECUTORS[self._sending.executor]
        unsent = {one.place: one for one in waiting}
        given = self._given_out(unsent, office, intake)
        jobs = min(self._sending.jobs, len(waiting))
        for batch in run(given, lambda order: obtain(order, office), jobs):
            for name, problem in intake.take(batch):
                self._listener.ended(name, problem)
        if office.purse.blind:
            self._note_once(_BLIND)
        if unsent:
            intake.put_back(unsent.values(), office.begun)

    def _given_out(
        self, unsent: dict[str, Order], office: Office, intake: Intake
    ) -> Iterator[Order]:
        """Answers that are there already come first, as they cost nothing."""
        for order in sorted(unsent.values(), key=lambda one: one.place in office.begun):
            if order.place in office.begun and (stop := office.purse.admit()):
                intake.stopped = stop
                return
            del unsent[order.place]
            yield order


def _only(job: Job, found: Orders, names: tuple[str, ...]) -> Orders:
    known = {one.label for one in found.ready} | {one.name for one in found.unready}
    for name in names:
        if name not in known:
            raise Refusal(not_awaited(job.run, name, found))
    return Orders(
        tuple(one for one in found.ready if one.label in names),
        tuple(one for one in found.unready if one.name in names),
    )


def _as_sent(job: Job, order: Order) -> dict[str, str]:
    reply = f"{job.workspace.path}/{order.place}.reply"
    split = f"qrspi split {reply} --tag {order.name} {job.run} {order.step} --round {order.round}"
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
        "split_cmd": split if order.kind == "review" else "",
    }


_BLIND = (
    "[budget] not every agent says what a call costs: those calls are not counted in USD; "
    "limit calls or tokens instead"
)


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
