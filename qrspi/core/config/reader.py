"""config.md becomes a Config: every value that is good, and every problem with its ways out.

Nothing that affects behaviour is filled in. A field that is absent or bad is None, and
`problems_for` says whether the current step can go on without it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from qrspi.core.config import fields
from qrspi.core.config.model_tiers import Model, default_tier, model_routing
from qrspi.core.config.problems import (
    FILE,
    missing,
    not_found,
    other_version,
    quoted,
    renamed,
    unreadable,
    written,
)
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import subject
from qrspi.core.tree import CONFIG_LIMIT, Fault
from qrspi.core.yaml import frontmatter
from qrspi.core.yaml.nodes import Node

if TYPE_CHECKING:
    from qrspi.core.config.blocks import Budget, Gates, Validators
    from qrspi.core.config.vendors import Command, Provider

VERSION = "schema_version"  # 1 where it is not said
KNOWN = tuple(
    """created pipeline second_reviewer route review_depth review_mode verifier_enabled
    scope_tagger_enabled visual_fidelity_required question_budget model_routing default_tier
    providers trusted_path validators commands second_reviewer_model extra_reviewers guard approvals
    cascade budget gates base_branch feature_branch code_path commit
    later_rounds evidence light_implementer test_writer""".split()
)
BLOCKS = frozenset(
    """providers trusted_path validators commands second_reviewer_model extra_reviewers budget
    gates""".split()
)
_READ = frozenset((*KNOWN, "codex_reviews", VERSION))
BACKFILLS = {
    "verifier_enabled": "true",
    "scope_tagger_enabled": "true",
    "visual_fidelity_required": "false",
}
SUGGESTION_LIMIT = 20
NO_TESTS = "none"  # the answer is: no command runs tests here


class Config(NamedTuple):
    created: str | None = None
    pipeline: str | None = None
    second_reviewer: bool | None = None
    route: tuple[str, ...] | None = None
    review_depth: str | None = None
    review_mode: str | None = None
    verifier_enabled: bool | None = None
    scope_tagger_enabled: bool | None = None
    visual_fidelity_required: bool | None = None
    question_budget: int | None = None
    model_routing: Mapping[str, Model | None] | None = None
    default_tier: str | None = None
    providers: "Mapping[str, Provider] | None" = None
    trusted_path: tuple[str, ...] | None = None
    validators: "Validators | None" = None
    commands: "Mapping[str, Command] | None" = None
    second_reviewer_model: Model | None = None
    extra_reviewers: Mapping[str, tuple[str, ...]] = {}
    guard: str = "tolerant"
    approvals: str = "marker"  # recorded: an approval counts only with its record
    cascade: str = "on"  # off: a quick run asks a person at every step
    budget: "Budget | None" = None
    gates: "Gates | None" = None
    base_branch: str | None = None
    feature_branch: str | None = None
    code_path: str | None = None
    commit: str = "on"  # off: people commit, as with --no-commit
    later_rounds: str = "all"  # raisers: from the third round on, those with findings and one more
    evidence: str = "any"  # dispatched: only answers that the engine asked for count
    light_implementer: str = "off"  # on: tasks about text and settings go to a role of their own
    test_writer: str = "off"  # on: tests are written before the code, and for all of it together
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def test_command(self) -> str:
        """The command that runs the tests; '' when there is none, or nobody has named one."""
        command = self.said_of_tests
        return "" if command == NO_TESTS else command

    @property
    def said_of_tests(self) -> str:
        """The command, `none`, or '' when nobody has answered."""
        return (self.gates.test_command if self.gates else None) or ""

    @property
    def verifies(self) -> bool:
        """Whether findings are scored; yes when nobody has decided."""
        return self.verifier_enabled is not False

    @property
    def tags_scope(self) -> bool:
        """Whether later rounds may be narrowed; yes when nobody has decided."""
        return self.scope_tagger_enabled is not False

    @property
    def has_checkpoints(self) -> bool:
        return self.gates is not None and self.gates.checkpoints


_DATED = b"---\ncreated: "
_DAY = slice(len(_DATED), len(_DATED) + len("2026-05-17"))
_SOME_DAY = b"2000-01-01\n"


def read(content: bytes | Fault) -> Config:
    """The configs of a project's runs seldom differ in anything but the date, so a good one is read
    once for all of them. This saves an eighth of the time of `status --all`."""
    day = _day(content)
    if isinstance(content, Fault) or not day:
        return _read(content)
    alike = _read(_DATED + _SOME_DAY + content[_DAY.stop + 1 :])
    if alike.problems or alike.warnings:
        return _read(content)
    return alike._replace(created=day)


def _day(content: bytes | Fault) -> str:
    """A date on the first line, as `init` writes it; '' for anything else."""
    if isinstance(content, Fault) or not content.startswith(_DATED):
        return ""
    day = content[_DAY].decode("ascii", "replace")
    return day if content[_DAY.stop : _DAY.stop + 1] == b"\n" and fields.is_date(day) else ""


@lru_cache(maxsize=32)  # one action asks three times, and the daemon asks all day
def _read(content: bytes | Fault) -> Config:
    front = _front(content)
    if isinstance(front, Problem):
        return Config(problems=(front,))
    faults: list[Problem] = []
    config = _values(front, faults)
    if not BLOCKS.isdisjoint(front):
        from qrspi.core.config import blocks

        config = blocks.attach(config, front, faults)
    faults.sort(key=_place)
    return config._replace(problems=tuple(faults), warnings=_unknown(front))


def _front(content: bytes | Fault) -> dict[str, Node] | Problem:
    if isinstance(content, Fault):
        return not_found() if content.kind == "absent" else unreadable(_fault(content))
    if len(content) > CONFIG_LIMIT:
        return unreadable(_fault(Fault("too-large")))
    if not content.isascii() and (problem := _not_utf8(content)):
        return problem
    front = frontmatter.read(content, FILE)
    if front is None:
        return unreadable(
            f"{FILE}:1:1: no frontmatter; expected '---' alone on line 1, then the fields"
        )
    if isinstance(front, Problem):
        return unreadable(front.message)
    return front.fields


def _fault(fault: Fault) -> str:
    match fault.kind:
        case "not-a-file":
            detail = f" ({fault.detail})" if fault.detail else ""
            return f"{FILE} is not a regular file{detail}"
        case "too-large":
            return f"{FILE} is larger than {CONFIG_LIMIT // 1024} KiB"
        case _:
            return f"{FILE} cannot be read: {fault.reason}"


def _not_utf8(content: bytes) -> Problem | None:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = f"{before.count(10) + 1}:{len(before) - before.rfind(10)}"
        return unreadable(f"{FILE}:{place}: bytes that are not UTF-8")
    return None


def _values(front: dict[str, Node], faults: list[Problem]) -> Config:
    if VERSION in front and written(front[VERSION]) != "1":
        faults.append(other_version(front[VERSION]))
    pipeline = fields.choice(front, "pipeline", faults, required=True)
    return Config(
        created=fields.date(front, "created", faults),
        pipeline=pipeline,
        second_reviewer=_second_reviewer(front, faults),
        route=fields.route(front, faults),
        review_depth=fields.choice(front, "review_depth", faults),
        review_mode=fields.choice(front, "review_mode", faults),
        verifier_enabled=fields.boolean(front, "verifier_enabled", faults),
        scope_tagger_enabled=fields.boolean(front, "scope_tagger_enabled", faults),
        visual_fidelity_required=fields.boolean(front, "visual_fidelity_required", faults),
        question_budget=fields.question_budget(front, pipeline, faults),
        model_routing=model_routing(front, faults),
        default_tier=default_tier(front, faults),
        guard=fields.choice(front, "guard", faults) or "tolerant",
        approvals=fields.choice(front, "approvals", faults) or "marker",
        cascade=fields.choice(front, "cascade", faults) or "on",
        base_branch=fields.branch(front, "base_branch", faults),
        feature_branch=fields.branch(front, "feature_branch", faults),
        code_path=fields.path(front, "code_path", faults),
        commit=fields.choice(front, "commit", faults) or "on",
        later_rounds=fields.choice(front, "later_rounds", faults) or "all",
        evidence=fields.choice(front, "evidence", faults) or "any",
        light_implementer=fields.choice(front, "light_implementer", faults) or "off",
        test_writer=fields.choice(front, "test_writer", faults) or "off",
    )


def _second_reviewer(front: dict[str, Node], faults: list[Problem]) -> bool | None:
    """The old name is an error of its own, and replaces the one about a missing field."""
    if "codex_reviews" in front:
        faults.append(renamed(front["codex_reviews"]))
        if "second_reviewer" not in front:
            return None
    return fields.boolean(front, "second_reviewer", faults, required=True)


def _place(problem: Problem) -> int:
    name = _top(problem)
    return KNOWN.index(name) if name in KNOWN else -1


def _top(problem: Problem) -> str:
    name = problem.field.partition(".")[0]
    return "second_reviewer" if name == "codex_reviews" else name


def _unknown(front: Iterable[str]) -> tuple[Problem, ...]:
    names = [name for name in front if name not in _READ]
    warnings = [unknown_field(name) for name in names[:SUGGESTION_LIMIT]]
    if rest := len(names) - len(warnings):
        message = f"{FILE}: {rest} more unknown fields, which are ignored"
        warnings.append(Problem("field-unknown", message, FILE))
    return tuple(warnings)


def unknown_field(name: str) -> Problem:
    near = nearest(name)
    message = f"{FILE}: {quoted(name)} is not a known field and is ignored"
    message += f"; the nearest known field is {near}" if near else ""
    return Problem("field-unknown", message, FILE, name, name, near)


def nearest(name: str, names: Sequence[str] = ()) -> str:
    among = names or KNOWN
    if len(name) > 64:
        return ""
    # Imported here: it costs a cold start 2 ms, and few configs have an unknown field.
    from difflib import get_close_matches

    longer = (known for known in among if known.startswith(f"{name}_"))
    return next(iter(get_close_matches(name, among, 1, cutoff=0.7)), next(longer, ""))


# Which step needs what

_EVERY_STEP = frozenset(
    """schema_version route model_routing default_tier second_reviewer guard approvals
    verifier_enabled scope_tagger_enabled commit later_rounds evidence""".split()
)
_USED_BY: dict[str, frozenset[str]] = {
    "pipeline": frozenset(("goals", "plan", "parallelize")),
    "question_budget": frozenset(("goals", "plan", "parallelize")),
    "cascade": frozenset(("questions", "research", "plan")),
    "review_depth": frozenset(("implement",)),
    "review_mode": frozenset(("implement",)),
    "light_implementer": frozenset(("implement",)),
    "test_writer": frozenset(("implement", "test")),
    "visual_fidelity_required": frozenset(("goals", "design", "phasing", "plan", "implement")),
    "gates": frozenset(("plan", "implement", "integrate", "test")),
}


def _uses(step: str, problem: Problem) -> bool:
    name = _top(problem)
    return not name or name in _EVERY_STEP or step in _USED_BY.get(name, ())


def _step(word: str) -> str:
    named = subject(word)
    return named.step if named else word


def problems_for(config: Config, step: str) -> tuple[Problem, ...]:
    """What keeps this step from going on: bad fields that the step uses."""
    name = _step(step)
    used = tuple(problem for problem in config.problems if _uses(name, problem))
    return used + (_unanswered(config) if name == "implement" else ())


def problems_with(config: Config, names: Collection[str]) -> tuple[Problem, ...]:
    """The same for a command that uses only these fields."""
    return tuple(one for one in config.problems if not _top(one) or _top(one) in names)


def _unanswered(config: Config) -> tuple[Problem, ...]:
    """Nobody has chosen these before implement begins; they are asked for there."""
    if is_unusable(config):
        return ()
    bad = {problem.field for problem in config.problems}
    unset = {"review_depth": config.review_depth, "review_mode": config.review_mode}
    asked = [field for field, value in unset.items() if value is None and field not in bad]
    if len(asked) == len(unset):
        return (_how_tasks_are_reviewed(),)
    return tuple(map(fields.missing_choice, asked))


def _how_tasks_are_reviewed() -> Problem:
    """Both are asked in one question, since neither makes sense to a person without the other."""
    four, eight = "Four reviewers for each task", "Up to eight reviewers, at about twice the cost"
    ways = (
        (f"{four}, again after each change until it is clean (recommended)", "quick", "loop"),
        (f"{four}, once: the cheapest", "quick", "single"),
        (f"{eight}, again after each change until it is clean", "deep", "loop"),
        (f"{eight}, once", "deep", "single"),
    )
    command = "qrspi config set review_depth {} review_mode {}"
    options = tuple(f"{what}: {command.format(depth, mode)}" for what, depth, mode in ways)
    depth, mode = "review_depth (quick or deep)", "review_mode (single or loop)"
    return missing("review_depth", f"{depth} and {mode}", *options)._replace(
        message=f"config.md: how are tasks reviewed? {depth} and {mode} are yours to choose"
    )


def warnings_for(config: Config, step: str) -> tuple[Problem, ...]:
    if not config.problems:
        return config.warnings
    name = _step(step)
    unused = tuple(problem for problem in config.problems if not _uses(name, problem))
    return config.warnings + unused


def foreign(content: bytes | Fault) -> Problem | None:
    """Why this version only shows a run that another version of qrspi made."""
    if isinstance(content, Fault) or VERSION.encode() not in content:
        return None
    return next((problem for problem in read(content).problems if problem.field == VERSION), None)


def is_unusable(config: Config) -> bool:
    return any(not problem.field for problem in config.problems)


def backfills(config: Config) -> tuple[tuple[str, str], ...]:
    """The fields that are absent (not only bad), each with the value to write."""
    if is_unusable(config):
        return ()
    bad = {problem.field for problem in config.problems}
    return tuple(
        (field, value)
        for field, value in BACKFILLS.items()
        if getattr(config, field) is None and field not in bad
    )


class Report(NamedTuple):
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def validate(config: Config) -> Report:
    absent = tuple(_to_backfill(field, value) for field, value in backfills(config))
    return Report(config.problems, config.warnings + absent)


def _to_backfill(field: str, value: str) -> Problem:
    text = f"{FILE}: {field} is missing; {value} will be written when it is first needed"
    return Problem("field-missing", text, FILE, field, expected="true or false")
