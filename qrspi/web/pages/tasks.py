"""`/runs/RUN/tasks`: waves from left to right."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.web import gates
from qrspi.web.html import Page


def page(commands: Commands, name: str) -> Page:
    found = commands.ask("task", "list", name)
    run = commands.ask("status", name)["runs"][0]
    tasks = {one["task"]: one for one in found["tasks"]}
    waves = [[tasks.pop(key) for key in wave if key in tasks] for wave in found["waves"]]
    context = {
        "run": run,
        "phase": found["phase"],
        "waves": waves,
        "repairs": list(tasks.values()),
        "problems": [*found["problems"], *found["warnings"]],
    }
    return Page("tasks.html", f"Tasks · {name}", context, name, following=gates.following(run))
