"""`/`: all runs, by who is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from qrspi.cli.in_process import Commands
from qrspi.core.records.audit_trail import FILE
from qrspi.web.templates import Page

PER_PAGE = 50
_GROUPS = {
    "human": "Waits for you",
    "agent": "Waits for agents",
    "engine": "Can go on by itself",
    "nobody": "Complete or set aside",
}


class Card(NamedTuple):
    run: dict[str, Any]
    last: dict[str, Any] | None  # the newest line of its trail


class Group(NamedTuple):
    title: str
    who: str
    total: int
    cards: list[Card]


def page(commands: Commands, query: dict[str, str]) -> Page:
    document = commands.ask("status", "--all")
    wanted = query.get("q", "").strip().lower()
    runs = [one for one in document["runs"] if wanted in one["run"].lower()]
    ordered = sorted(runs, key=lambda one: (_place(one), -_changed(commands, one["run"])))
    number = _number(query.get("page", ""), len(ordered))
    shown = ordered[(number - 1) * PER_PAGE : number * PER_PAGE]
    context = {
        "groups": _groups(commands, ordered, shown),
        "total": len(document["runs"]),
        "found": len(ordered),
        "wanted": query.get("q", ""),
        "page": number,
        "pages": _pages(len(ordered)),
        "daemon": document["daemon"],
    }
    return Page("board.html", "Runs", context)


def _pages(count: int) -> int:
    return max(1, -(-count // PER_PAGE))


def _number(text: str, count: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
    return min(max(number, 1), _pages(count))


def _who(run: dict[str, Any]) -> str:
    ended = run["closed"] or run["complete"]
    return "nobody" if ended else str(run["next"]["who"])


def _place(run: dict[str, Any]) -> int:
    return list(_GROUPS).index(_who(run))


def _changed(commands: Commands, run: str) -> float:
    """When the engine last changed something, by the clock of the file."""
    folder = f"{commands.session.root.runs_dir}/{run}"
    for name in (f"{folder}/{FILE}", folder):
        try:
            return Path(name).stat().st_mtime
        except OSError:
            continue
    return 0.0


def _groups(
    commands: Commands, ordered: list[dict[str, Any]], shown: list[dict[str, Any]]
) -> list[Group]:
    found = []
    for who, title in _GROUPS.items():
        cards = [Card(one, last_change(commands, one["run"])) for one in shown if _who(one) == who]
        if cards:
            found.append(Group(title, who, sum(_who(one) == who for one in ordered), cards))
    return found


def last_change(commands: Commands, run: str) -> dict[str, Any] | None:
    """Who did something last, for `3 h ago, ada`."""
    answer = commands.run("log", run, "-n", "1")
    if answer.status or not answer.text.strip():
        return None
    line = answer._replace(text=answer.text.splitlines()[-1]).document
    if line.get("kind") != "entry":
        return None
    agents = [one["agent"] for one in line.get("answers", ())]
    return {**line, "by": line.get("who") or ", ".join(agents[:2]) or "qrspi"}
