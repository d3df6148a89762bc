"""What a hook answers: nothing, or a document in the shape of the host that asks. Hosts ask before
every edit, so nothing of a run is imported or read until a call names one of its files."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in `qrspi.cli`: typing costs too much here
if TYPE_CHECKING:
    from typing import Any

_DISPATCHED = "QRSPI_TRUSTED"  # in the environment of an agent that the engine itself has sent


def answer(event: str, host: Any, payload: bytes) -> dict[str, Any] | None:
    if event == "pre-tool" and not _may_concern(payload) and "/docs/qrspi" not in os.getcwd():
        return None  # it names no file of a run
    import json

    document = json.loads(payload or b"{}")
    if b"\\ud" in payload.lower():
        # Half a character, which no file can contain: hosts write another in its place.
        text = json.dumps(document, ensure_ascii=False).encode("utf-16", "surrogatepass")
        document = json.loads(text.decode("utf-16", "replace"))
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object on stdin")
    if event == "pre-tool":
        from qrspi.hooks import pre_tool

        return pre_tool.answer(document, host)
    project = _project(document.get("cwd"))
    if project is None:
        return None
    from qrspi.hooks import session

    return session.stop(document, project) if event == "stop" else session.start(project, host)


def _may_concern(payload: bytes) -> bool:
    """A run may also be meant by a wildcard, or by all that is there."""
    return b"qrspi" in payload or any(word in payload for word in _UNNAMED)


_UNNAMED = (b"approved", b"--hard", b"git clean")  # as in `qrspi.hooks.pre_tool`


def _project(cwd: object) -> str | None:
    """None where there are no runs, and for an agent that has one task and no run to drive."""
    if _DISPATCHED in os.environ or not isinstance(cwd, str):
        return None
    from qrspi.world.runs import project_search

    return project_search.with_runs(cwd)
