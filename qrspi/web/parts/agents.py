"""The agents that a run waits for, and how far each is."""

from __future__ import annotations

from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.named_tuple import NamedTuple

_STATES = {
    "pending": "not sent yet",
    "blocked": "cannot be sent",
    "sent": "sent",
    "queued": "queued for a worker",
    "started": "started",
    "taking": "answered, being read",
    "taken": "answered",
    "failed": "failed",
    "late": "late",
}


class Awaited(NamedTuple):
    name: str
    step: str
    round: int | None
    model: str  # as `vendor/model`; '' where nobody said
    state: str
    says: str  # the state in words, with the worker that has begun
    problem: str


def awaited(commands: Commands, run: dict[str, Any]) -> tuple[Awaited, ...]:
    """As `dispatch list` has them; nobody where the run waits for somebody else."""
    if run["closed"] or run["next"]["who"] != "agent":
        return ()
    answer = commands.run("dispatch", "list", run["run"])
    return () if answer.status else tuple(map(_awaited, answer.document["waiting"]))


def _awaited(agent: dict[str, Any]) -> Awaited:
    state = _STATES[agent["state"]]
    model = "/".join(filter(None, (agent["vendor"], agent["model"])))
    where = f" on {agent['worker']}" if agent["worker"] else ""
    names = (agent["name"], agent["step"], agent["round"])
    return Awaited(*names, model, agent["state"], state + where, agent["problem"])


def workers(lines: list[dict[str, Any]], step: str, number: int) -> dict[str, str]:
    return {
        answer["agent"]: answer["worker"]
        for line in lines
        if (line.get("step"), line.get("round")) == (step, number)
        for answer in line.get("answers", ())
        if answer.get("worker")
    }
