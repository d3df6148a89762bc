"""When a session starts: which runs wait. When it stops: what is left of the run it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qrspi.core.hosts.answers import HostName, context, not_yet
from qrspi.hooks import waiting_runs


def start(project: str, host: HostName) -> dict[str, Any] | None:
    lines = waiting_runs.lines(project)
    return context(host, "\n".join(lines)) if lines else None


def stop(payload: Mapping[str, Any], project: str) -> dict[str, Any] | None:
    """Said once: a host that was told says so."""
    transcript = payload.get("transcript_path") or payload.get("transcriptPath")
    if payload.get("stop_hook_active") or not isinstance(transcript, str):
        return None
    reason = waiting_runs.left_to_do(project, transcript)
    return not_yet(reason) if reason else None
