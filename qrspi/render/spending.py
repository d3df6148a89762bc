"""What agents cost, as a document and as a table."""

from __future__ import annotations

from typing import Any, NamedTuple

from qrspi.core.agents import spend
from qrspi.core.agents.spend import Bound, Entry, Group, Totals
from qrspi.core.config import reader as configs
from qrspi.core.config.blocks import Limits
from qrspi.core.tree import CONFIG_LIMIT, Tree
from qrspi.handlers.agents import ledger
from qrspi.handlers.agents.ledger import Ledger
from qrspi.render.columns import table
from qrspi.render.safe_text import one_line

_HEAD = ("STEP", "ROUND", "ROLE", "MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "USD", "SECONDS")


class Page(NamedTuple):
    groups: tuple[tuple[Group, Totals], ...]
    total: Totals
    budgets: tuple[tuple[Bound, Totals], ...]


def page(tree: Tree, known: Ledger) -> Page:
    """Budgets that config.md sets, each beside what counts against it."""
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    total = spend.total(known.entries)
    budgets: list[tuple[Bound, Totals]] = []
    for step in ("", *dict.fromkeys(one.step for one in known.entries)):
        _, of_run, of_step = ledger.bounds(config, Limits(), step)
        spent = spend.total(one for one in known.entries if one.step == step) if step else total
        bound = of_step if step else of_run
        if bound.limits != Limits():
            budgets.append((bound, spent))
    return Page(spend.grouped(known.entries), total, tuple(budgets))


def document(page: Page) -> dict[str, Any]:
    return {
        "groups": [
            {**group._asdict(), "round": group.round or None, **_totals(totals)}
            for group, totals in page.groups
        ],
        "total": _totals(page.total),
        "budgets": [
            {"whose": bound.whose, "limits": bound.limits._asdict(), "spent": _totals(spent)}
            for bound, spent in page.budgets
        ],
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {**totals._asdict(), "usd": round(totals.usd, 6), "seconds": round(totals.seconds, 3)}


def lines(page: Page, width: int) -> list[str]:
    if not page.groups:
        return ["Nothing has been spent on this run."]
    rows = [_row(group, totals) for group, totals in page.groups]
    rows.append(("total", "", "", "", *_figures(page.total)))
    shown = table(_HEAD, rows, width)
    if page.total.unpriced:
        shown.append(f"Nobody said what {_calls(page.total.unpriced)} cost.")
    for bound, spent in page.budgets:
        shown.append(f"{bound.whose}: {', '.join(_left(bound.limits, spent))}")
    return shown


def _row(group: Group, totals: Totals) -> tuple[str, ...]:
    number = str(group.round) if group.round else "-"
    return (group.step, number, group.role, group.model or "?", *_figures(totals))


def _figures(totals: Totals) -> tuple[str, ...]:
    usd = "-" if totals.unpriced and not totals.usd else f"{totals.usd:.4f}"
    counts = (totals.calls, totals.input_tokens, totals.output_tokens)
    return (*(f"{count}" for count in counts), usd, f"{totals.seconds:.1f}")


def _left(limits: Limits, spent: Totals) -> list[str]:
    pairs = (
        (limits.calls, f"{spent.calls} of {limits.calls} calls"),
        (limits.tokens, f"{spent.tokens} of {limits.tokens} tokens"),
        (limits.usd, f"{spent.usd:.4f} of {limits.usd or 0:.4f} USD"),
    )
    return [text for limit, text in pairs if limit is not None]


def sentence(entry: Entry, dry_run: bool) -> str:
    verb = "would enter" if dry_run else "entered"
    usd = "an unknown cost" if entry.usd is None else f"{entry.usd:.4f} USD"
    tokens = entry.input_tokens + entry.output_tokens
    who = one_line(f"{entry.role} ({entry.model})")
    return f"{verb}: {_calls(entry.calls)} of {who} for {entry.step}, {tokens} tokens, {usd}"


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"
