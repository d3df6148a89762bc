"""`/runs/RUN/log`: the trail, newest first."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.web import gates
from qrspi.web.html import Page

SHOWN = 500


def page(commands: Commands, name: str, query: dict[str, str]) -> Page:
    run = commands.ask("status", name)["runs"][0]
    everything = "all" in query
    words = ("--all",) if everything else ("-n", str(SHOWN))
    lines = commands.lines("log", name, *words)
    context = {
        "run": run,
        "lines": list(reversed(lines)),
        "more": not everything and len(lines) >= SHOWN,
    }
    return Page("log.html", f"Log · {name}", context, name, following=gates.following(run))
