"""config.md: read, judged, changed and migrated."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from qrspi.core.config import edit
from qrspi.core.config import reader as configs
from qrspi.core.model import Problem
from qrspi.core.pipeline import ROUTES, STEPS
from tests import runs
from tests.fuzz.case import Fuzz

STEP_NAMES = tuple(step.name for step in STEPS)
SCALARS = (
    *("true", "false", "none", "full", "quick", "5", "05", "0.5", "-1", "~", "''", "on", "yes"),
    *("99999999999999999999", "1e9", "claude", "recorded", "strict", "loop", "goals", "é", "a: b"),
    *("2026-05-17", "'true'", '"5"', "a #b", "&a x", "*a", "!t x", "|", "@x", "https://x.test/v1"),
)
INNER = (
    *("vendor", "model", "low", "medium", "high", "default_tier", "usd", "calls", "per_step"),
    *("argv", "audit", "quality", "checkpoints", "test_command", "base_url", "plan", "goals"),
)
RENAMED = ("codex_reviews", "Pipeline", "routes", "questions_budget", "zzz")
KEYS = (*configs.KNOWN, *RENAMED)
DOTTED = (
    *("model_routing.low", "model_routing.high.model", "gates.audit", "gates.test_command"),
    *("budget.usd", "budget.per_step.calls", "providers.acme.base_url", "commands.codex.argv"),
)


class Case(NamedTuple):
    """A config, and what is tried on it."""

    data: bytes
    key: str
    value: str
    step: str
    route: str


def make(random: Random) -> Case:
    data = _file(random)
    key = random.choice(KEYS + DOTTED)
    step, route = random.choice(STEP_NAMES), random.choice(sorted(ROUTES))
    return Case(data, key, _value(random, 1), step, route)


def _file(random: Random) -> bytes:
    """A good one with some of its lines changed, doubled or gone, or one that is made up."""
    if random.random() < 0.7:
        lines = runs.config(random.choice(("full", "quick"))).decode().split("\n")[1:-2]
    else:
        lines = [f"{random.choice(KEYS)}: {_value(random, 3)}" for _ in range(random.randrange(9))]
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        _change(random, lines)
    text = "\n".join(["---", *lines, "---", "", "# Body", ""])
    return text.replace("\n", random.choice(("\n", "\n", "\n", "\r\n"))).encode()


def _change(random: Random, lines: list[str]) -> None:
    at = random.randrange(len(lines) + 1)
    new = f"{random.choice(KEYS)}: {_value(random, 3)}"
    match random.randrange(6):
        case 0:
            del lines[at : at + 1]
        case 1:
            lines.insert(at, new)
        case 2:
            lines.insert(at, random.choice(("# why", "", "  x: y", "\tz: 1", "- a", "?", "...")))
        case 3 if lines:
            lines.append(random.choice(lines))
        case _ if at < len(lines):
            key = lines[at].partition(":")[0]
            lines[at] = f"{key}: {_value(random, 3)}{random.choice(('', '', ' # why', '  '))}"


def _value(random: Random, depth: int) -> str:
    kind = random.randrange(6) if depth else 5
    few = range(random.randrange(4))
    if kind == 0:
        return f"[{', '.join(_value(random, depth - 1) for _ in few)}]"
    if kind == 1:
        pairs = (f"{random.choice(INNER)}: {_value(random, depth - 1)}" for _ in few)
        return f"{{{', '.join(pairs)}}}"
    if kind == 2:
        return f"[{', '.join(random.sample(STEP_NAMES, random.randrange(len(STEP_NAMES))))}]"
    return random.choice(SCALARS)


def check(case: Case) -> str:
    data, key, value, step, route = case
    config = configs.read(data)
    errors, warnings = configs.problems_for(config, step), configs.warnings_for(config, step)
    assert not set(errors) & set(warnings), (errors, warnings)
    assert set(config.problems) <= {*errors, *warnings}, config.problems
    for problem in config.problems:
        assert problem.message.isprintable() and len(problem.message) < 600, problem
        assert problem.options[-1] == "Abort", problem
    configs.validate(config)
    if configs.is_unusable(config):
        return "unusable"
    _filled(data, config)
    _migrated(data)
    _set(data, config, key, value)
    edit.set_route(config, {}, route, data)
    return "with problems" if config.problems else "good"


def _filled(data: bytes, config: configs.Config) -> None:
    for field, value in configs.backfills(config)[:1]:
        filled = edit.backfill(data, field, value)
        if isinstance(filled, Problem):  # behind `...`, or a text that goes on, nothing can be put
            assert filled.code == "not-editable", filled
            continue
        assert field not in dict(configs.backfills(configs.read(filled))), filled


def _migrated(data: bytes) -> None:
    first = edit.migrate(data)
    if isinstance(first, Problem):
        return
    assert edit.migrate(first.data) == edit.Migration((), first.data), first
    assert bool(first.plan) == (first.data != data), first


def _set(data: bytes, config: configs.Config, key: str, value: str) -> None:
    """One field, with no new problem, or nothing at all."""
    changed = edit.set_value(data, key, value)
    if isinstance(changed, tuple):
        assert changed and all(isinstance(problem, Problem) for problem in changed), changed
        return
    assert set(configs.read(changed).problems) <= set(config.problems), changed
    assert edit.set_value(changed, key, value) == changed, changed


FUZZ = Fuzz("configs", 100_000, make, check)
