"""`/runs/RUN/spend`: money, tokens and time, by step, role and model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.named_tuple import NamedTuple
from qrspi.web.answers import gates
from qrspi.web.html import Page
from qrspi.web.parts import navigation

_BY = {"step": "By step", "role": "By role", "model": "By model"}
_UNKNOWN = "not said"


class Sums(NamedTuple):
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def plus(self, group: dict[str, Any]) -> Sums:
        return Sums(
            self.calls + group["calls"],
            self.tokens + group["input_tokens"] + group["output_tokens"],
            self.usd + group["usd"],
            self.seconds + group["seconds"],
        )


class Bar(NamedTuple):
    name: str
    sums: Sums
    width: float  # of a hundred


class Meter(NamedTuple):
    label: str
    spent: float
    limit: float
    says: str


class Budget(NamedTuple):
    whose: str
    meters: list[Meter]


class Chart(NamedTuple):
    title: str
    bars: list[Bar]


def page(commands: Commands, name: str) -> Page:
    document = commands.ask("spend", name)
    run = commands.ask("status", name)["runs"][0]
    by_money = bool(document["total"]["usd"])
    context = {
        "run": run,
        "total": Sums().plus(document["total"]),
        "unpriced": document["total"]["unpriced"],
        "tabs": navigation.run_tabs(name, "/spend"),
        "budgets": [Budget(one["whose"], list(_meters(one))) for one in document["budgets"]],
        "charts": [
            _chart(document["groups"], field, title, by_money)
            for field, title in _BY.items()
            if document["groups"]
        ],
        "drawn_by": "money" if by_money else "tokens",
    }
    return Page("spend.html", f"Spend · {name}", context, name, following=gates.following(run))


def _meters(budget: dict[str, Any]) -> Iterator[Meter]:
    limits, spent = budget["limits"], Sums().plus(budget["spent"])
    for label, used, limit, says in (
        ("Money", spent.usd, limits["usd"], "{:.4f} of {:.4f} USD"),
        ("Tokens", spent.tokens, limits["tokens"], "{:,} of {:,} tokens"),
        ("Calls", spent.calls, limits["calls"], "{:,} of {:,} calls"),
    ):
        if limit is not None:
            yield Meter(label, used, limit, says.format(used, limit))


def _chart(groups: list[dict[str, Any]], field: str, title: str, by_money: bool) -> Chart:
    sums: dict[str, Sums] = {}
    for group in groups:
        name = group[field] or _UNKNOWN
        sums[name] = sums.get(name, Sums()).plus(group)
    sizes = {name: one.usd if by_money else one.tokens for name, one in sums.items()}
    most = max(sizes.values()) or 1
    names = sorted(sums, key=lambda name: -sizes[name])
    return Chart(title, [Bar(name, sums[name], 100 * sizes[name] / most) for name in names])
