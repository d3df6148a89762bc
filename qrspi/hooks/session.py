"""When a session starts: which runs wait. When it stops: what is left of the run it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from qrspi.core.derivation.derive import derive_among
from qrspi.core.hosts.answers import HostName, context, not_yet
from qrspi.core.hosts.conversation import runs_named
from qrspi.core.model import RunState
from qrspi.render.terminal import one_line
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.hosts import transcripts
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root, RunDir

_MOST = 4  # runs, of two lines each: ten lines in all
_SKILL = "The qrspi skill says how a run is carried on. Approving is for a person."


def start(project: str, host: HostName) -> dict[str, Any] | None:
    lines = _lines(project)
    return context(host, "\n".join(lines)) if lines else None


def stop(payload: Mapping[str, Any], project: str) -> dict[str, Any] | None:
    """Said once: a host that was told says so."""
    transcript = payload.get("transcript_path") or payload.get("transcriptPath")
    if payload.get("stop_hook_active") or not isinstance(transcript, str):
        return None
    reason = _left_to_do(project, transcript)
    return not_yet(reason) if reason else None


def _lines(project: str) -> list[str]:
    states = [state for state in map(_state, _runs(project)) if not _is_over(state)]
    if not states:
        return []
    many = f"{len(states)} runs are" if len(states) > 1 else "One run is"
    shown = [line for state in states[:_MOST] for line in _waiting(state)]
    return [f"{many} under way in docs/qrspi.", *shown, _SKILL]


def _left_to_do(project: str, transcript: str) -> str | None:
    """Of the runs that the conversation is about, the first that waits for an agent."""
    runs = {run.name: run for run in _runs(project)}
    named = runs_named(transcripts.lines(transcript), runs)
    states = (_state(runs[name]) for name in named)
    for state in states:
        if state.next.who in ("agent", "engine") and not _is_over(state):
            said = " ".join(line.strip() for line in _waiting(state))
            return f"{said} Or say why you stop here."
    return None


def _runs(project: str) -> Iterable[RunDir]:
    """The newest first, as their names begin with a date."""
    return reversed(locate.readable_runs(Root(project, f"{project}/docs/qrspi")))


def _state(run: RunDir) -> RunState:
    return derive_among(DiskTree(run.path), steps=False)


def _is_over(state: RunState) -> bool:
    return state.complete or state.closed


def _waiting(state: RunState) -> list[str]:
    following = state.next
    whom = {"human": "a person", "agent": "an agent"}.get(following.who, "the engine")
    step = f" ({following.step})" if following.step else ""
    said = one_line(following.summary).partition(". ")[0].rstrip(".")
    return [f"{state.run}{step} waits for {whom}: {said}.", f"  {_onward(state)}"]


def _onward(state: RunState) -> str:
    """A host never reads a person's decision as the command that goes on."""
    command = f"qrspi next {state.run} --json"
    if state.next.who == "human":
        command = state.next.onward
    if command:
        return f"Go on with `{command}`."
    return f"`qrspi status {state.run}` shows what the person can answer."
