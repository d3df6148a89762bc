"""Try role texts on agents: prompts about planted faults, and the score of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

from qrspi.core.agents import dispatch_record, model_choice, replies, transports, trial_case
from qrspi.core.agents import trial_score as scores
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.replies import Reply
from qrspi.core.agents.roles import Role
from qrspi.core.agents.spend import LedgerEntry
from qrspi.core.agents.transports import TRACES, Means
from qrspi.core.agents.trial_case import Case, Question
from qrspi.core.agents.trial_score import Outcome, Tally
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.config.model_tiers import Model
from qrspi.core.config.reader import Config
from qrspi.core.errors import Halt, Misuse, Refusal
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import redaction
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.dispatch_options import Listener, Sending
from qrspi.handlers.agents.ledger import RunBudget
from qrspi.world.agents import thread_pool, trial_files
from qrspi.world.agents import transports as wires
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import UNMADE, Request
from qrspi.world.consent import permits
from qrspi.world.runs import role_files
from qrspi.world.runs.workspace import Workspace

_MATERIAL = "material"


class Trial(NamedTuple):
    questions: tuple[Question, ...]
    run: str
    project: str


class Result(NamedTuple):
    outcomes: tuple[Outcome, ...]
    tallies: tuple[Tally, ...]


def opened(run: str, project: str, only: tuple[str, ...] = ()) -> Trial:
    cases = trial_files.cases()
    _check(only, cases)
    asked = trial_case.questions(cases, lambda name: _role(name, run, project), only)
    return Trial(tuple(asked), run, project)


def _check(only: tuple[str, ...], cases: Iterable[Case]) -> None:
    known = sorted({trial_case.VERIFIER, *(case.role for case in cases)})
    for name in only:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            text = f"--role: found {name!r}, expected {expected}"
            raise Misuse(Problem("usage", text, field="role", found=name, expected=expected))


def _role(name: str, run: str, project: str) -> Role:
    role = role_files.load(name, run, project)
    if isinstance(role, Problem):
        raise Halt(role)
    return role


def place(asked: Question, folder: str) -> str:
    """A folder for each question, so that whoever checks one claim sees no other about the text."""
    return f"{folder}/{_MATERIAL}/{asked.name}"


def prompt(trial: Trial, asked: Question, folder: str, model: str) -> bytes:
    rules = _role(asked.case.role, trial.run, trial.project).text
    parts = role_files.shared_parts()
    return trial_case.told(asked, rules, parts, place(asked, folder), model).encode()


def material(trial: Trial) -> dict[str, bytes]:
    return {
        f"{_MATERIAL}/{one.name}/{path}": data
        for one in trial.questions
        for path, data in trial_case.material(one).items()
    }


def lay_out(trial: Trial, folder: str, model: str) -> tuple[str, ...]:
    texts = {f"{one.name}.md": prompt(trial, one, folder, model) for one in trial.questions}
    trial_files.write(folder, {**material(trial), **texts})
    return tuple(texts)


def score(trial: Trial, answers: str) -> Result:
    if not trial_files.is_there(answers):
        raise Misuse(_no_folder(answers))
    by_name = {one.name: one for one in trial.questions}
    outcomes = tuple(
        scores.outcome(one, trial_files.answer(answers, name)) for name, one in by_name.items()
    )
    return Result(outcomes, scores.tallies(outcomes, by_name))


def _no_folder(path: str) -> Problem:
    return Problem(
        "no-answers",
        f"there is no folder {path}; expected one with answers under the prompts' names",
        file=path,
        expected="a folder",
        hint="qrspi roles trial --prompts DIR",
    )


STEP = "roles-trial"  # as the ledger names it


class _Order(NamedTuple):
    question: Question
    model: Model
    means: Means
    prompt: bytes
    directory: str
    result_file: str

    @property
    def name(self) -> str:
        return self.question.name


class _Heard(NamedTuple):
    order: _Order
    reply: Reply | Problem
    entry: LedgerEntry | None = None  # None: nobody was asked


class Sender(NamedTuple):
    trial: Trial
    workspace: Workspace
    sending: Sending
    listener: Listener
    answers: str  # a folder
    lock_timeout: float

    def send(self) -> tuple[Problem, ...]:
        """The reasons why some agents still have no answer in the folder."""
        waiting = [
            one
            for one in self.trial.questions
            if trial_files.answer(self.answers, one.name) is None
        ]
        if not waiting:
            return ()
        config = configs.read(self.workspace.read("config.md", CONFIG_LIMIT))
        with trial_files.laid_out(material(self.trial)) as folder:
            orders = [self._order(one, config, folder) for one in waiting]
            named = [one.means.named for one in orders if one.means.named]
            permits.require(self.trial.project, self.workspace.name, named)
            return self._carry_out(orders, config)

    def _order(self, one: Question, config: Config, folder: str) -> _Order:
        route = model_choice.resolve(one.role, config, tier_override=self.sending.how.tier)
        if isinstance(route, Problem):
            raise Halt(config_problems.for_run(route, self.workspace))
        means = self._means(route, config)
        if not means.prints:
            raise Refusal(_left_to_host(route.model.vendor))
        return _Order(
            question=one,
            model=route.model,
            means=means,
            prompt=prompt(self.trial, one, folder, route.model.model),
            directory=place(one, folder),
            result_file=f"{folder}/{one.name}.result",
        )

    def _means(self, route: Route, config: Config) -> Means:
        if self.sending.how.scripts:
            return transports.SCRIPTED
        return transports.means(route.model.vendor, config)

    def _carry_out(self, orders: list[_Order], config: Config) -> tuple[Problem, ...]:
        budget = RunBudget(config, self.sending.limits)
        budget.count(STEP, ledger.before_a_call(self.workspace).entries)
        keys = tuple(provider.api_key_env for provider in (config.providers or {}).values())
        for trace in dict.fromkeys(TRACES[one.means.transport] for one in orders):
            self.listener.note(trace)
        self.listener.begun(tuple(one.name for one in orders))
        problems: list[Problem] = []
        trial_files.write(self.answers, {})
        with DispatchContext(key_names=keys, scripts=self.sending.how.scripts) as wire:
            given = _within(budget, orders, problems)
            jobs = min(self.sending.at_once, len(orders))
            asking = thread_pool.run(given, lambda one: self._asked(one, wire, budget), jobs)
            with closing(asking) as heard:
                for batch in heard:
                    problems.extend(self._taken(batch))
        return tuple(problems)

    def _asked(self, order: _Order, wire: DispatchContext, budget: RunBudget) -> _Heard:
        answer = wires.send(self._request(order), wire)
        if answer.problem and answer.problem.code in UNMADE:
            budget.take_back()
            return _Heard(order, answer.problem)
        answer = answer.whole()
        data = redaction.without(answer.data, wire.keys)
        reply, kind = replies.parse(order.means.reply, data), order.means.reply
        usage = reply.usage if isinstance(reply, Reply) else replies.usage(kind, data)
        usage = replies.estimated(usage, len(order.prompt), len(data))
        budget.charge(usage)
        reply = answer.problem or reply
        entry = ledger.entry(self._record(order), STEP, 0, usage)
        entry = entry._replace(seconds=round(answer.seconds, 3))
        if isinstance(reply, Problem):
            entry = entry._replace(outcome="failed")
        return _Heard(order, reply, entry)

    def _request(self, order: _Order) -> Request:
        named, project = order.means.named, self.trial.project
        return Request(
            name=order.name,
            step=STEP,
            round=0,
            prompt=order.prompt,
            means=order.means,
            model=order.model.model,
            directory=order.directory,
            run=self.workspace.path,
            result_file=order.result_file,
            permit=permits.permit(project, self.workspace.name, named) if named else None,
        )

    def _record(self, order: _Order) -> Record:
        return Record(
            job_id=dispatch_record.job_id(self.workspace.name, STEP, 0, order.name, order.prompt),
            name=order.name,
            attempt=1,
            role=order.question.role.name,
            vendor=order.model.vendor,
            model=order.model.model,
            transport=order.means.transport,
            reply=order.means.reply,
        )

    def _taken(self, heard: Iterable[_Heard]) -> Iterator[Problem]:
        """An answer is a file before its cost is on the ledger: a kill asks nobody twice."""
        batch = tuple(heard)
        texts = {
            f"{one.order.name}.md": one.reply.text.encode()
            for one in batch
            if isinstance(one.reply, Reply)
        }
        trial_files.write(self.answers, texts)
        with self.workspace.locked(self.lock_timeout, "roles trial"):
            ledger.append(self.workspace, [one.entry for one in batch if one.entry])
        for one in batch:
            problem = one.reply if isinstance(one.reply, Problem) else None
            self.listener.ended(one.order.name, problem)
            if problem:
                yield problem._replace(message=f"{one.order.name}: {problem.message}")


def _within(
    budget: RunBudget, orders: Iterable[_Order], problems: list[Problem]
) -> Iterator[_Order]:
    for order in orders:
        if stop := budget.admit():
            problems.append(stop)
            return
        yield order


def _left_to_host(vendor: str) -> Problem:
    return Problem(
        "transport-host",
        f"config.md has neither a command nor a provider for {vendor}: the host sends its agents",
        file="config.md",
        found=vendor,
        hint="qrspi roles trial --prompts DIR",
    )
