"""`/`: all runs, by who is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import CLOSED
from qrspi.core.records import audit_trail
from qrspi.core.tree import Fault
from qrspi.web.answers import gates
from qrspi.web.answers.forms import Form
from qrspi.web.html import Page
from qrspi.web.parts import markdown, navigation, words
from qrspi.web.parts.navigation import Stop
from qrspi.world.files import json_log
from qrspi.world.files.run_tree import DiskTree


class NewestChange(NamedTuple):
    """The newest line of a trail: `3 h ago, ada`."""

    time: str
    by: str


class Card(NamedTuple):
    run: dict[str, Any]
    where: str
    says: str  # the next action; why it was set aside, of a run that was
    errors: list[dict[str, Any]]
    last: NewestChange | None
    answer: str  # the address where its question is answered; '' when it asks nobody
    forms: tuple[Form, ...]
    track: tuple[Stop, ...]


class WaitingGroup(NamedTuple):
    who: str
    title: str
    total: int
    cards: list[Card]


def page(commands: Commands, query: dict[str, str]) -> Page:
    document = commands.ask("status", "--all")
    wanted = query.get("q", "").strip().lower()
    runs = [one for one in document["runs"] if wanted in one["run"].lower()]
    kinds = list(words.WHO)
    ordered = sorted(
        runs, key=lambda run: (kinds.index(_who(run)), -_changed(commands, run["run"]))
    )
    shown, pages = navigation.page(ordered, query.get("page", ""), "/", q=query.get("q", ""))
    context = {
        "groups": _groups(commands, ordered, shown),
        "total": len(document["runs"]),
        "found": len(ordered),
        "wanted": query.get("q", ""),
        "paging": pages,
    }
    return Page("board.html", "Runs", context)


def _who(run: dict[str, Any]) -> str:
    return "nobody" if run["closed"] or run["complete"] else str(run["next"]["who"])


def _changed(commands: Commands, run: str) -> float:
    """When the engine last changed something, by the clock of the file."""
    folder = f"{commands.session.root.runs_dir}/{run}"
    for name in (f"{folder}/{audit_trail.FILE}", folder):
        try:
            return Path(name).stat().st_mtime
        except OSError:
            continue
    return 0.0


def _groups(
    commands: Commands, ordered: list[dict[str, Any]], shown: Sequence[dict[str, Any]]
) -> list[WaitingGroup]:
    groups: list[WaitingGroup] = []
    for who, title in words.WHO.items():
        cards = [_card(commands, run) for run in shown if _who(run) == who]
        if cards:
            groups.append(WaitingGroup(who, title, sum(_who(run) == who for run in ordered), cards))
    return groups


def _card(commands: Commands, run: dict[str, Any]) -> Card:
    who = _who(run)
    number = run["next"]["round"]
    step = run["current_step"] or ("complete" if run["complete"] else "config.md")
    where = f"{step}, round {number}" if number else step
    aside = why_closed(commands, run)
    return Card(
        run,
        f"{where}, set aside" if run["closed"] else where,
        aside or run["next"]["summary"],
        gates.errors(run),
        last_change(commands, run["run"]),
        gates.answered_at(run) if who == "human" else "",
        tuple(one._replace(primary=False) for one in gates.of_run(run) if who == "engine"),
        navigation.stops(run),
    )


def why_closed(commands: Commands, run: dict[str, Any]) -> str:
    """In the words of the person who set it aside; '' for a run that is open."""
    if not run["closed"]:
        return ""
    data = DiskTree(f"{commands.session.root.runs_dir}/{run['run']}").read(CLOSED)
    body = "" if isinstance(data, Fault) else markdown.body(data.decode("utf-8", "replace"))
    return body or "Nobody said why."


def last_change(commands: Commands, run: str) -> NewestChange | None:
    tree = DiskTree(f"{commands.session.root.runs_dir}/{run}")
    for entry in json_log.tail(tree, audit_trail.FILE, 1):
        line = entry if isinstance(entry, Problem) else audit_trail.read(entry.record, -1)
        if not isinstance(line, Problem):
            agents = ", ".join(answer.agent for answer in line.answers[:2])
            return NewestChange(line.time, line.who.partition(" <")[0] or agents or "qrspi")
    return None
