"""What the run waits for from agents: for each one a role, a model, a way to reach it, a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from qrspi.core.agents import dispatch_record as jobs
from qrspi.core.agents import model_choice as routing
from qrspi.core.agents import roles, transports
from qrspi.core.agents.model_choice import Route
from qrspi.core.agents.roles import Role
from qrspi.core.agents.transports import Means
from qrspi.core.config.reader import Model
from qrspi.core.model import Problem
from qrspi.core.records import step_text as bodies
from qrspi.core.text import citation_density
from qrspi.core.tree import Fault
from qrspi.handlers.agents.dispatch_options import AS_CONFIGURED, How
from qrspi.handlers.jobs.job import Job
from qrspi.handlers.rounds import expected_dispatches as lineup
from qrspi.world.agents.dispatch_folder import SECOND_TRY
from qrspi.world.runs import role_files as rolefiles

if TYPE_CHECKING:
    from qrspi.handlers.agents.prompt_parameters import Material

Kind = Literal["review", "verify", "author", "fix", "implement"]

KINDS: dict[str, Kind] = {
    "review": "review",
    "verify": "verify",
    "author": "author",
    "apply-fixes": "fix",
}
PROMPT_LIMIT = 8 * 1024 * 1024


class Order(NamedTuple):
    kind: Kind
    name: str
    step: str  # the review subject: a step, implement-gate, or task-NN
    round: int
    folder: str  # run-relative, where its prompt lies
    role: Role
    route: Route | Problem  # a second reviewer's model may be unknown to us
    means: Means
    prompt: bytes
    directory: str = ""  # where a program works; the project when empty
    before: Mapping[str, str] = {}  # the files an answer may replace, by their hashes now
    floor: float | None = None  # for research: how well an answer must be sourced
    again: Order | Problem | None = None  # and who is asked when it is not

    @property
    def place(self) -> str:
        """Run-relative: where everything about this dispatch lies, short of an extension."""
        return f"{self.folder}/{self.name}"

    @property
    def prompt_file(self) -> str:
        return f"{self.place}.md"

    @property
    def label(self) -> str:
        """How people and commands name it. Every task has an implementer."""
        return self.step if self.kind == "implement" else self.name

    @property
    def target(self) -> str:
        """The reviewer's tag, or the stem of the finding that is scored."""
        return self.name.removeprefix("verify-") if self.kind == "verify" else self.name

    @property
    def model(self) -> Model | None:
        return self.route.model if isinstance(self.route, Route) else None

    def job_id(self, run: str) -> str:
        return jobs.job_id(run, self.step, self.round, self.name, self.prompt)


class Unready(NamedTuple):
    """An agent that is waited for, and why it cannot be told what to do."""

    name: str
    problem: Problem


class Orders(NamedTuple):
    ready: tuple[Order, ...] = ()
    unready: tuple[Unready, ...] = ()


def orders(job: Job, how: How = AS_CONFIGURED) -> Orders:
    """One for each prompt that the next action names."""
    kind = kind_of(job)
    if kind is None:
        return Orders()
    cast = _Cast(job, how)
    made = [_order(cast, kind, path) for path in job.next.prompts]
    return Orders(
        tuple(one for one in made if isinstance(one, Order)),
        tuple(one for one in made if isinstance(one, Unready)),
    )


def kind_of(job: Job) -> Kind | None:
    """Findings about a task's code are settled by its implementer."""
    return "implement" if job.next.kind == "implement" else KINDS.get(job.next.action)


class _Cast:
    """Roles as they are needed: two hundred verifiers share one."""

    def __init__(self, job: Job, how: How) -> None:
        self.job = job
        self.how = how
        self._roles: dict[str, Role | Problem] = {}

    @cached_property
    def material(self) -> Material:
        from qrspi.handlers.agents import prompt_parameters as composing

        return composing.material(self.job)

    def role(self, name: str) -> Role | Problem:
        if name not in self._roles:
            self._roles[name] = rolefiles.load(name, self.job.workspace.path, self.job.project)
        return self._roles[name]

    def means(self, route: Route | Problem, order: tuple[str, str, int]) -> Means:
        if self.how.scripts:
            return _scripted(self.how.scripts, *order)
        if isinstance(route, Problem):
            return transports.HOST
        return transports.means(route.model.vendor, self.job.facts.config)


def _scripted(folder: str, name: str, step: str, round: int) -> Means:
    # Imported here: only demonstrations answer from a folder.
    from qrspi.world.agents import scripted_replies as scripted
    from qrspi.world.agents.request import Request

    asked = Request(name, step, round, b"", transports.SCRIPTED, "", "/")
    return transports.SCRIPTED._replace(reply=scripted.kind(asked, folder))


class _Part(NamedTuple):
    """Who is to play what, before the lines are written."""

    kind: Kind
    folder: str
    name: str
    role: Role
    route: Route | Problem


def unready(job: Job) -> tuple[Unready, ...]:
    """Those who cannot be told what to do; cheaper than asking for all prompts."""
    kind = kind_of(job)
    cast = _Cast(job, AS_CONFIGURED)
    parts = [_part(cast, kind, path) for path in job.next.prompts] if kind else []
    return tuple(part for part in parts if isinstance(part, Unready))


def _order(cast: _Cast, kind: Kind, path: str) -> Order | Unready:
    part = _part(cast, kind, path)
    made = part if isinstance(part, Unready) else _made(cast, part)
    return _with_second_try(cast, made) if isinstance(made, Order) else made


def _part(cast: _Cast, kind: Kind, path: str) -> _Part | Unready:
    folder, _, name = path.removesuffix(".md").rpartition("/")
    role = cast.role(_role_name(kind, name, cast.job.next.step))
    if isinstance(role, Problem):
        return Unready(name, role)
    second = kind == "review" and lineup.is_second(name)
    config = cast.job.facts.config
    route = routing.resolve(role, config, tier_override=cast.how.tier, second=second)
    if isinstance(route, Problem) and not second:
        return Unready(name, route)
    return _Part(kind, folder, name, role, route)


def _role_name(kind: Kind, name: str, step: str) -> str:
    match kind:
        case "review":
            return roles.for_tag(name)
        case "verify":
            return "verifier"
        case "fix":
            return "fixer"
        case "implement":
            return "implementer"
        case "author":
            return roles.for_author(step, question=name != "author")


def _made(cast: _Cast, part: _Part) -> Order | Unready:
    # Imported here: who only asks whether all can be told does not tell them.
    from qrspi.handlers.agents import implementer_prompt as implementers
    from qrspi.handlers.agents import prompt_parameters as composing

    job, (kind, folder, name, role, route) = cast.job, part
    means = cast.means(route, (name, job.next.step, job.next.round))
    actual = route.model.model if isinstance(route, Route) else ""
    step, directory = job.next.step, ""
    if kind == "implement":
        # Works in a work tree, which who only prints cannot.
        means = means if means.transport == "command" else transports.HOST
        step, directory = implementers.place(job, folder)
        prompt = implementers.prompt(job, folder, role, actual).encode()
    else:
        agent = composing.Agent(role, actual, means.prints, cast.material)
        prompt = composing.prompt(job, kind, name, agent).encode()
    if len(prompt) > PROMPT_LIMIT:
        return Unready(name, _too_long(name, len(prompt)))
    made = Order(kind, name, step, job.next.round, folder, role, route, means, prompt, directory)
    return made._replace(before=_before(job, kind))


def _before(job: Job, kind: Kind) -> dict[str, str]:
    if kind not in ("author", "fix"):
        return {}
    files = {path: job.workspace.read(path) for path in bodies.paths(job.workspace, job.facts.step)}
    return {
        path: hashlib.sha256(data).hexdigest()
        for path, data in files.items()
        if not isinstance(data, Fault)
    }


def _with_second_try(cast: _Cast, order: Order) -> Order:
    """Research that is badly sourced is asked for once more, of the model its role names."""
    if order.kind != "author" or order.step != "research" or not order.means.prints:
        return order
    validators = cast.job.facts.config.validators
    floor = validators.citation_density_floor if validators else citation_density.DEFAULT_FLOOR
    return order._replace(floor=floor, again=_again(cast, order))


def _again(cast: _Cast, order: Order) -> Order | Problem:
    route = routing.trusted(order.role)
    if isinstance(route, Problem):
        return route
    made = _made(cast, _Part(order.kind, order.folder, order.name, order.role, route))
    if isinstance(made, Unready):
        return made.problem
    name = f"{order.name}{SECOND_TRY}"
    means = cast.means(route, (name, order.step, order.round))
    return made._replace(name=name, means=means) if means.prints else _not_ours(route)


def _not_ours(route: Route) -> Problem:
    text = f"config.md has neither a command nor a provider for {route.model.vendor}"
    return Problem("no-model", text, file="config.md", found=route.model.vendor)


def not_awaited(run: str, name: str, found: Orders) -> Problem:
    listed = ", ".join(one.label for one in found.ready) or "nobody"
    return Problem(
        "not-awaited",
        f"run {run} does not wait for {name!r}; it waits for {listed}",
        field="TAG",
        found=name,
        expected=listed,
        hint=f"qrspi dispatch list {run}",
    )


def _too_long(name: str, size: int) -> Problem:
    return Problem(
        "prompt-too-large",
        f"the prompt for {name} has {size} bytes, expected at most {PROMPT_LIMIT}",
        found=str(size),
        expected=f"at most {PROMPT_LIMIT}",
        hint="shorten the artifact, or give the reviewer to a host, which opens files itself",
    )
