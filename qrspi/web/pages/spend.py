"""`/runs/RUN/spend`: money, tokens and time, by step, role and model."""

from __future__ import annotations

from typing import Any, NamedTuple

from qrspi.cli.in_process import Commands
from qrspi.web.templates import Page

_BY = {"step": "By step", "role": "By role", "model": "By model"}


class Bar(NamedTuple):
    name: str
    calls: int
    tokens: int
    usd: float
    seconds: float


class Chart(NamedTuple):
    title: str
    bars: list[Bar]
    most: float  # of what the bars are drawn by
    unit: str


def page(commands: Commands, name: str) -> Page:
    found = commands.ask("spend", name)
    unit = "usd" if found["total"]["usd"] else "tokens"
    charts = [_chart(found["groups"], field, title, unit) for field, title in _BY.items()]
    context = {
        "run": commands.ask("status", name)["runs"][0],
        "total": found["total"],
        "budgets": found["budgets"],
        "groups": found["groups"],
        "charts": charts if found["groups"] else [],
    }
    return Page("spend.html", f"Spend · {name}", context, name)


def _chart(groups: list[dict[str, Any]], field: str, title: str, unit: str) -> Chart:
    sums: dict[str, Bar] = {}
    for one in groups:
        bar = sums.get(one[field] or "?", Bar(one[field] or "?", 0, 0, 0.0, 0.0))
        sums[bar.name] = Bar(
            bar.name,
            bar.calls + one["calls"],
            bar.tokens + one["input_tokens"] + one["output_tokens"],
            bar.usd + one["usd"],
            bar.seconds + one["seconds"],
        )
    bars = sorted(sums.values(), key=lambda bar: -getattr(bar, unit))
    return Chart(title, bars, max((getattr(bar, unit) for bar in bars), default=1) or 1, unit)
