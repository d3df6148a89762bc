"""What agents cost: the ledger's entries, their totals, and when a budget is reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from qrspi.core.config.blocks import Budget, Limits
from qrspi.core.config.reader import Config
from qrspi.core.hints import Any
from qrspi.core.model import Code, Problem
from qrspi.core.named_tuple import NamedTuple

FILE = ".qrspi/spend.jsonl"
_MOST = 10**15


class LedgerEntry(NamedTuple):
    time: str
    step: str
    round: int
    role: str
    model: str
    vendor: str = ""
    name: str = ""  # which reviewer, verifier or question
    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None  # None when nobody reported it
    seconds: float = 0.0
    outcome: str = "done"  # done, failed, late, interrupted
    source: str = "dispatch"  # or host
    job: str = ""
    attempt: int = 1
    estimated: int = 0  # tokens that nobody counted


class Totals(NamedTuple):
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    unpriced: int = 0  # calls whose cost nobody reported
    estimated: int = 0  # tokens that nobody counted

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.estimated


class Group(NamedTuple):
    step: str
    round: int
    role: str
    model: str


def render(entry: LedgerEntry) -> dict[str, object]:
    return {**entry._asdict(), "round": entry.round or None}


def entry(record: Mapping[str, Any], line: int = 0) -> LedgerEntry | Problem:
    """A line with a field of the wrong type is not counted."""
    values: dict[str, Any] = {key: record.get(key, "") for key in _TEXTS}
    values |= {key: record.get(key) or 0 for key in _COUNTS}
    values |= {"usd": record.get("usd"), "seconds": record.get("seconds") or 0.0}
    for key, value in values.items():
        if not _fits(key, value):
            return _bad(line, key)
    return LedgerEntry(**values)


_TEXTS = ("time", "step", "role", "model", "vendor", "name", "outcome", "source", "job")
_COUNTS = ("round", "calls", "input_tokens", "output_tokens", "attempt", "estimated")


def _fits(key: str, value: object) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    if key in _COUNTS:
        return type(value) is int and 0 <= value < _MOST
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST
    return number or (key == "usd" and value is None)


def _bad(line: int, field: str) -> Problem:
    message = f"{FILE}: line {line} has no proper '{field}' and is not counted"
    return Problem("bad-entry", message, FILE, field, expected="an entry as spend add writes it")


def total(entries: Iterable[LedgerEntry]) -> Totals:
    return reduce(add, entries, Totals())


def add(totals: Totals, one: LedgerEntry) -> Totals:
    return Totals(
        calls=totals.calls + one.calls,
        input_tokens=totals.input_tokens + one.input_tokens,
        output_tokens=totals.output_tokens + one.output_tokens,
        usd=totals.usd + (one.usd or 0.0),
        seconds=totals.seconds + one.seconds,
        unpriced=totals.unpriced + (one.calls if one.usd is None else 0),
        estimated=totals.estimated + one.estimated,
    )


def grouped(entries: Iterable[LedgerEntry]) -> tuple[tuple[Group, Totals], ...]:
    """Steps stand in the order in which they first appear. Agents that were sent together end in
    any order, so they are listed by name."""
    found: dict[Group, Totals] = {}
    for one in entries:
        key = Group(one.step, one.round, one.role, one.model)
        found[key] = add(found.get(key, Totals()), one)
    steps = list(dict.fromkeys(group.step for group in found))
    return tuple(sorted(found.items(), key=lambda item: (steps.index(item[0].step), item[0][1:])))


class Bound(NamedTuple):
    whose: str
    limits: Limits
    field: str = ""  # of config.md; '' for what was given with a command


def reached(bound: Bound, spent: Totals, run: str = "") -> Problem | None:
    limits: tuple[tuple[Code, float | None, float], ...] = (
        ("budget-calls", bound.limits.calls, spent.calls),
        ("budget-tokens", bound.limits.tokens, spent.tokens),
        ("budget-usd", bound.limits.usd, spent.usd),
    )
    for code, limit, used in limits:
        if limit is not None and used >= limit:
            return _stop(code, bound, limit, used, run, spent.estimated)
    return None


def _stop(code: Code, bound: Bound, limit: float, used: float, run: str, guess: int) -> Problem:
    what = code.removeprefix("budget-")
    said = f"{used:.4f} of {limit:.4f} USD" if what == "usd" else f"{used:g} of {limit:g} {what}"
    if what == "tokens" and guess:
        said += f" ({guess} of them estimated)"
    return Problem(
        code,
        f"stopped before the next call: {bound.whose} is reached, {said} spent",
        field=what,
        found=f"{used:g}",
        expected=f"less than {limit:g}",
        hint=f"{_way_on(bound, what, max(limit, used), run)}: nothing is paid for twice",
    )


_FIRST = {"calls": 10, "tokens": 100_000, "usd": 1}  # where nothing was allowed so far


def _way_on(bound: Bound, what: str, used: float, run: str) -> str:
    if not run:
        return "run the same command with a higher limit"
    if not bound.field:
        sends = f"qrspi next {run} --dispatch"
        return f"run the same command with a higher limit, or `{sends}` without one"
    field = f"{bound.field}.{what}"
    higher = f"{2 * used:.15g}" if used else f"{_FIRST[what]}"
    raises = f"qrspi config set {run} {field} {higher}"
    return f"raise it with `{raises}`, then run the same command again"


def bounds(config: Config, command: Limits, step: str) -> tuple[Bound, Bound, Bound]:
    budget = config.budget or Budget()
    return (
        Bound("the limit given with this command", command),
        Bound("the budget of this run in config.md", budget.run, "budget"),
        Bound(f"the budget of a step in config.md ({step})", budget.per_step, "budget.per_step"),
    )


def held_back(
    run: str, step: str, config: Config, entries: Iterable[LedgerEntry]
) -> Iterator[Problem]:
    """Each budget that keeps agents of the step from being sent."""
    known = tuple(entries)
    totals = (total(known), total(one for one in known if one.step == step))
    for bound, spent in zip(bounds(config, Limits(), step)[1:], totals, strict=True):
        if stop := reached(bound, spent, run):
            why, way = stop.message.partition(": ")[2], stop.hint.partition(",")[0]
            command = way.partition("`")[2].rstrip("`")
            yield stop._replace(message=f"{why}: no agent is sent; {way}", hint=command)
