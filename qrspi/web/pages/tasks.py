"""`/runs/RUN/tasks`: waves from left to right."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.web.templates import Page


def page(commands: Commands, name: str) -> Page:
    found = commands.ask("task", "list", name)
    tasks = {one["task"]: one for one in found["tasks"]}
    waves = [[tasks.pop(key) for key in wave] for wave in found["waves"]]
    context = {
        "run": commands.ask("status", name)["runs"][0],
        "phase": found["phase"],
        "waves": waves,
        "repairs": list(tasks.values()),
        "problems": [*found["problems"], *found["warnings"]],
    }
    return Page("tasks.html", f"Tasks · {name}", context, name)
