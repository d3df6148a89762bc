"""`/runs/RUN/tasks`: waves from left to right."""

from __future__ import annotations

from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.named_tuple import NamedTuple
from qrspi.web.answers import gates
from qrspi.web.html import Page
from qrspi.web.parts import navigation

_NONE = "There are no tasks yet: they come with the plan."
_CANNOT = "The tasks can be shown once this is mended."


class Wave(NamedTuple):
    key: str
    title: str
    tasks: list[dict[str, Any]]


def page(commands: Commands, name: str) -> Page:
    document = commands.ask("task", "list", name)
    run = commands.ask("status", name)["runs"][0]
    context = {
        "run": run,
        "tabs": navigation.run_tabs(name, "/tasks"),
        "phase": document["phase"],
        "waves": _waves(document),
        "problems": [*document["problems"], *document["warnings"]],
        "none_said": _CANNOT if document["problems"] else _NONE,
    }
    return Page("tasks.html", f"Tasks · {name}", context, name, following=gates.following(run))


def _waves(document: dict[str, Any]) -> list[Wave]:
    tasks = {one["task"]: one for one in document["tasks"]}
    waves = [
        Wave(f"wave-{at}", f"Wave {at}", [tasks.pop(key) for key in keys if key in tasks])
        for at, keys in enumerate(document["waves"], 1)
    ]
    repairs = Wave("repairs", "Beside the waves", list(tasks.values()))
    return [*waves, repairs] if tasks else waves
