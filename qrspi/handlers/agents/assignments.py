"""What the run waits for from agents: for each one a role, a model, a transport and a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from qrspi.core import reviewers
from qrspi.core.agents import dispatch_record, model_choice, roles, transports
from qrspi.core.agents.dispatch_record import Record
from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.roles import Role
from qrspi.core.agents.transports import Means
from qrspi.core.config import problems as config_problems
from qrspi.core.config.blocks import DENSITY_FLOOR
from qrspi.core.config.model_tiers import Model
from qrspi.core.digest import sha256
from qrspi.core.filenames import dispatch_folder
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Ask, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject_of
from qrspi.core.records import step_text
from qrspi.core.steps import next_actions
from qrspi.core.tree import Fault
from qrspi.handlers.agents.dispatch_options import AS_CONFIGURED, How
from qrspi.handlers.jobs.job import Job
from qrspi.world.agents.dispatch_folder import SECOND_TRY, read_records
from qrspi.world.files.overflow import OnDisk, Overflow
from qrspi.world.runs import role_files

if TYPE_CHECKING:
    from qrspi.core.gates.quality.task_spec import Spec
    from qrspi.handlers.agents.material import Material

PROMPT_LIMIT = 8 * 1024 * 1024


class Assignment(NamedTuple):
    ask: Ask
    round: int  # of the run's next action, which the answer serves
    role: Role
    route: Route | Problem  # a second reviewer's model may be unknown to us
    means: Means
    text: bytes | OnDisk  # the prompt
    directory: str = ""  # where a program works; the project when empty
    before: Mapping[str, str] = {}  # the files an answer may replace, with their present hashes
    floor: float | None = None  # for research: how well an answer must be sourced
    again: Assignment | Problem | None = None  # who is asked if it is not
    is_second_try: bool = False
    unrejected: bytes = b""  # the prompt, had no earlier answer been refused; empty when it is that

    @property
    def prompt(self) -> bytes:
        return self.text if isinstance(self.text, bytes) else self.text.read()

    @property
    def name(self) -> str:
        return f"{self.ask.name}{SECOND_TRY}" if self.is_second_try else self.ask.name

    @property
    def step(self) -> str:
        """The review subject: a step, implement-gate, a task or a repair."""
        return self.ask.subject

    @property
    def folder(self) -> str:
        return dispatch_folder(self.ask)

    @property
    def place(self) -> str:
        return f"{self.folder}/{self.name}"

    @property
    def prompt_file(self) -> str:
        return f"{self.place}.md"

    @property
    def label(self) -> str:
        """How people and commands name it."""
        return self.ask.label if self.ask.kind == "implement" else self.name

    @property
    def model(self) -> Model | None:
        return self.route.model if isinstance(self.route, Route) else None

    def job_id(self, run: str) -> str:
        return dispatch_record.job_id(run, self.step, self.round, self.name, self.prompt)

    def question(self, run: str) -> str:
        """The same for every try at one question, whatever is said about the last one."""
        plain = self.unrejected or self.prompt
        return dispatch_record.job_id(run, self.step, self.round, self.name, plain)


class Unready(NamedTuple):
    name: str
    problem: Problem


class Assignments(NamedTuple):
    ready: tuple[Assignment, ...] = ()
    unready: tuple[Unready, ...] = ()


def assignments(
    job: Job, how: How = AS_CONFIGURED, drafts: Mapping[str, Spec] | None = None
) -> Assignments:
    """`drafts` are tasks that are in no file yet."""
    cast = _Cast(job, how, drafts or {})
    made = [_assigned(cast, ask) for ask in job.next.asks]
    return Assignments(
        tuple(one for one in made if isinstance(one, Assignment)),
        tuple(one for one in made if isinstance(one, Unready)),
    )


def can_be_sent(job: Job) -> bool:
    return next_actions.can_be_sent(job.next, job.facts.names)


class _Cast:
    """Loads each role once: two hundred verifiers share one."""

    def __init__(self, job: Job, how: How, drafts: Mapping[str, Spec]) -> None:
        self.job = job
        self.how = how
        self.drafts = drafts
        self.prompts = Overflow()
        self._roles: dict[str, Role | Problem] = {}
        self._records: dict[str, Mapping[str, Record]] = {}

    @cached_property
    def material(self) -> Material:
        from qrspi.handlers.agents import material

        return material.read(self.job, travels=self.how.executor == "celery")

    def record(self, ask: Ask) -> Record | None:
        folder = dispatch_folder(ask)
        if folder not in self._records:
            self._records[folder] = read_records(self.job.workspace.path, folder)
        return self._records[folder].get(ask.name)

    def rules(self, stem: str) -> str:
        role = self._role(roles.for_tag(stem.partition(".")[0]))
        return role.text if isinstance(role, Role) else ""

    def role_and_route(self, ask: Ask) -> tuple[Role, Route | Problem] | Unready:
        role = self._role(_role_name(self.job, ask))
        if isinstance(role, Problem):
            return Unready(ask.name, role)
        second = ask.kind == "review" and reviewers.is_second(ask.target)
        config = self.job.facts.config
        route = model_choice.resolve(role, config, tier_override=self.how.tier, second=second)
        if isinstance(route, Problem):
            route = config_problems.for_run(route, self.job.workspace)
        if isinstance(route, Problem) and not second:
            return Unready(ask.name, route)
        return role, route

    def _role(self, name: str) -> Role | Problem:
        if name not in self._roles:
            self._roles[name] = role_files.load(name, self.job.workspace.path, self.job.project)
        return self._roles[name]

    def means(self, route: Route | Problem, ask: Ask, order: tuple[str, str, int]) -> Means:
        if self.how.scripts:
            return _scripted(self.how.scripts, *order)
        if isinstance(route, Problem):
            return transports.HOST
        if self.how.executor == "celery" and _travels(ask):
            return transports.by_fleet(route.model.vendor)
        return transports.means(route.model.vendor, self.job.facts.config)


def _travels(ask: Ask) -> bool:
    """An agent that needs the code works where the code is."""
    if ask.kind == "research-question":
        return ask.target.partition("-")[2] not in ("codebase", "hybrid")
    return ask.kind != "implement"


def _scripted(folder: str, name: str, step: str, round: int) -> Means:
    from qrspi.world.agents import scripted_replies
    from qrspi.world.agents.request import Request

    asked = Request(
        name=name,
        step=step,
        round=round,
        prompt=b"",
        means=transports.SCRIPTED,
        model="",
        directory="/",
    )
    return transports.SCRIPTED._replace(reply=scripted_replies.kind(asked, folder))


def unready(job: Job) -> tuple[Unready, ...]:
    """Agents that cannot have a prompt; cheaper than building all prompts."""
    cast = _Cast(job, AS_CONFIGURED, {})
    chosen = [cast.role_and_route(ask) for ask in job.next.asks]
    return tuple(one for one in chosen if isinstance(one, Unready))


def _assigned(cast: _Cast, ask: Ask) -> Assignment | Unready:
    chosen = cast.role_and_route(ask)
    made = chosen if isinstance(chosen, Unready) else _made(cast, ask, *chosen)
    return _with_second_try(cast, made) if isinstance(made, Assignment) else made


def _role_name(job: Job, ask: Ask) -> str:
    first, *light = roles.for_ask(ask)
    return light[0] if light and _is_light(job, ask.subject) else first


def _is_light(job: Job, task: str) -> bool:
    if job.facts.config.light_implementer != "on":
        return False
    from qrspi.core.artifacts import task_file

    return task_file.is_light(job.workspace.head(subject_of(task).artifact))


def _made(cast: _Cast, ask: Ask, role: Role, route: Route | Problem) -> Assignment | Unready:
    from qrspi.handlers.agents import material, prompt_parameters

    job = cast.job
    means = cast.means(route, ask, (ask.name, job.next.step, job.next.round))
    model = route.model.model if isinstance(route, Route) else ""
    travels = means.transport == "celery"
    if travels and (problem := _unnameable(model)):
        return Unready(ask.name, problem)
    agent = prompt_parameters.Agent(role, model, means.prints, travels=travels)
    directory = ""
    if ask.kind == "implement":
        # It works in a work tree, which an agent that only prints cannot do.
        means = means if means.transport == "command" else transports.HOST
        directory = material.task_place(job, ask.subject)[1]
    elif ask.kind == "quality":
        agent = agent._replace(draft=cast.drafts.get(ask.target))
    else:
        rules = cast.rules(ask.target) if ask.kind == "verify" else ""
        agent = agent._replace(material=cast.material, rules=rules)
    prompt = prompt_parameters.prompt(job, ask, agent).encode()
    if len(prompt) > PROMPT_LIMIT:
        return Unready(ask.name, _too_long(ask.name, len(prompt)))
    made = Assignment(
        ask=ask,
        round=job.next.round,
        role=role,
        route=route,
        means=means,
        text=cast.prompts.put(prompt),
        directory=directory,
        before=texts_now(job) if ask.kind in ("author", "research-question", "fix") else {},
    )
    known = cast.record(ask)
    if known is None or not known.rejected or known.question != made.question(job.run):
        return made
    again = prompt_parameters.prompt(job, ask, agent._replace(rejected=(known.rejected,)))
    return made._replace(text=again.encode(), unrejected=prompt)


def texts_now(job: Job) -> dict[str, str]:
    paths = step_text.paths(job.workspace, job.facts.step)
    read = ((path, job.workspace.read(path)) for path in paths)
    return {path: sha256(data).hexdigest() for path, data in read if not isinstance(data, Fault)}


def _with_second_try(cast: _Cast, order: Assignment) -> Assignment:
    """Research with too few sources is asked for once more, from the model that its role names."""
    writes = order.ask.kind in ("author", "research-question")
    if not writes or order.step != "research" or not order.means.prints:
        return order
    validators = cast.job.facts.config.validators
    floor = validators.citation_density_floor if validators else DENSITY_FLOOR
    return order._replace(floor=floor, again=_again(cast, order))


def _again(cast: _Cast, order: Assignment) -> Assignment | Problem:
    route = model_choice.trusted(order.role)
    if isinstance(route, Problem):
        return route
    made = _made(cast, order.ask, order.role, route)
    if isinstance(made, Unready):
        return made.problem
    second = made._replace(is_second_try=True)
    means = cast.means(route, order.ask, (second.name, order.step, order.round))
    return second._replace(means=means) if means.prints else _not_ours(route)


def _not_ours(route: Route) -> Problem:
    text = f"config.md has neither a command nor a provider for {route.model.vendor}"
    return Problem("no-model", text, file="config.md", found=route.model.vendor)


def not_awaited(run: str, name: str, known: Assignments) -> Problem:
    from qrspi.core.findings.near_names import meant

    labels = [one.ask.label for one in known.ready]
    listed = ", ".join(labels) or "no agent now"
    onward = f"qrspi dispatch list {run}" if labels else f"qrspi next {run}"
    after = meant(name, labels) if labels else f": `{onward}` says what it waits for"
    return Problem(
        "not-awaited",
        f"run {run} does not wait for {name!r}; it waits for {listed}{after}",
        field="TAG",
        found=name,
        expected=listed,
        hint=onward,
    )


def _unnameable(model: str) -> Problem | None:
    from qrspi.core.fleet import job_message

    if job_message.is_model(model):
        return None
    expected = "at most 128 letters, digits and . _ : / @ + [ ] -, and no '-' at the front"
    text = f"the model {model!r} cannot be named to a worker: expected {expected}"
    return Problem("no-model", text, found=model, expected=expected)


def _too_long(name: str, size: int) -> Problem:
    return Problem(
        "prompt-too-large",
        f"the prompt for {name} has {size} bytes, expected at most {PROMPT_LIMIT}",
        found=str(size),
        expected=f"at most {PROMPT_LIMIT}",
        hint="shorten the artifact, or give the reviewer to a host, which opens files itself",
    )
