"""Set a run aside, and take it up again. A closed run is left alone and out of sight."""

from __future__ import annotations

from typing import NamedTuple

from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.records import closed_run as closed
from qrspi.core.tree import Fault, Tree
from qrspi.handlers.jobs import audit_trail as audit
from qrspi.handlers.jobs.job import Performed
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


class Options(NamedTuple):
    lock_timeout: float = 10.0
    dry_run: bool = False


def close(workspace: Workspace, reason: str, options: Options) -> str:
    """The time that is on record."""
    now = clock.now_utc()
    if options.dry_run:
        _must_be_open(workspace)
        return now
    with workspace.locked(options.lock_timeout, "qrspi close"):
        _must_be_open(workspace)
        workspace.create(closed.FILE, closed.render(now, reason))
        audit.record(
            workspace, "cli", Performed("close", "", files=(closed.FILE,), notes=(reason,))
        )
    return now


def reopen(workspace: Workspace, options: Options) -> None:
    if options.dry_run:
        _must_be_closed(workspace)
        return
    with workspace.locked(options.lock_timeout, "qrspi reopen"):
        _must_be_closed(workspace)
        workspace.remove(closed.FILE)
        audit.record(workspace, "cli", Performed("reopen", "", files=(closed.FILE,)))


def _is_closed(tree: Tree) -> bool:
    found = tree.head(closed.FILE)
    return not (isinstance(found, Fault) and found.kind == "absent")


def _must_be_open(tree: Tree) -> None:
    if _is_closed(tree):
        why = closed.summary(tree.read(closed.FILE))
        message = (
            f"{tree.name} is closed already{why}: `qrspi reopen {tree.name}` takes it up again"
        )
        hint = f"qrspi reopen {tree.name}"
        raise Refusal(Problem("already-closed", message, file=closed.FILE, hint=hint))


def _must_be_closed(tree: Tree) -> None:
    if not _is_closed(tree):
        message = f"{tree.name} is not closed: there is nothing to reopen"
        hint = f"qrspi status {tree.name}"
        raise Refusal(Problem("not-closed", message, file=closed.FILE, hint=hint))
