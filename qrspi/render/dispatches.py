"""The agents a run waits for, and what came of sending them."""

from __future__ import annotations

from typing import Any

from qrspi.handlers.agents.awaited_agents import Waiting
from qrspi.handlers.agents.fan_out import FanOut
from qrspi.render.columns import table
from qrspi.render.problems import violation
from qrspi.render.safe_text import one_line

_HEAD = ("AGENT", "ROLE", "MODEL", "WIRE", "STATE")
NOBODY = "The run waits for no agent now: `qrspi next` says what it waits for."


def document(run: str, line: tuple[Waiting, ...]) -> dict[str, Any]:
    return {"run": run, "waiting": [_waiting(one) for one in line]}


def _waiting(one: Waiting) -> dict[str, Any]:
    return {**one._asdict(), "round": one.round or None}


def lines(line: tuple[Waiting, ...], width: int) -> list[str]:
    if not line:
        return [NOBODY]
    rows = [(one.name, one.role, _model(one), one.transport, one.state) for one in line]
    troubles = [f"{one.name}: {one_line(one.problem)}" for one in line if one.problem]
    return [*table(_HEAD, rows, width), *([""] if troubles else []), *troubles]


def _model(one: Waiting) -> str:
    return f"{one.vendor}/{one.model}" if one.model else "?"


def sent_document(run: str, sent: FanOut | None) -> dict[str, Any]:
    return {
        "run": run,
        "step": sent.performed.step if sent else None,
        "round": (sent.performed.round or None) if sent else None,
        "files": list(sent.performed.files) if sent else [],
        "notes": list(sent.performed.notes) if sent else [],
        **ending(sent.stopped if sent else None, sent.held if sent else ()),
    }


def ending(stopped: Any, held: tuple[str, ...]) -> dict[str, Any]:
    """Why a command that sends did not go on."""
    return {"stopped": violation(stopped) if stopped else None, "held": list(held)}


def sent_lines(sent: FanOut | None) -> list[str]:
    if sent is None:
        return [NOBODY]
    written = [one_line(name) for name in sent.performed.files]
    shown = [*written, *ending_lines(sent.stopped, sent.held)]
    return shown or ([] if sent.failures else ["Nobody was sent."])


def ending_lines(stopped: Any, held: tuple[str, ...]) -> list[str]:
    shown = [one_line(stopped.message), f"  {stopped.hint}"] if stopped else []
    if held:
        names = one_line(", ".join(held))
        shown.append(
            f"The host's to send, as config.md has no command or provider for them: {names}."
        )
    return shown
