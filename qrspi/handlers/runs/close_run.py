"""Set a run aside, and take it up again. A closed run is left alone and not listed."""

from __future__ import annotations

import hashlib

from qrspi.core.derivation import closed_run
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.pipeline import CLOSED
from qrspi.core.records.approvals import Record
from qrspi.core.tree import Tree, exists
from qrspi.handlers.changes import change_set
from qrspi.handlers.changes.change_set import Edit
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Options, Performed
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


def close(workspace: Workspace, reason: str, options: Options) -> tuple[str, str | None]:
    """When, and the commit, if there is one."""
    now = clock.now_utc()
    if options.dry_run:
        must_be_open(workspace)
        return now, None
    with workspace.locked(options.lock_timeout, "qrspi close"):
        must_be_open(workspace)
        page = f"---\nclosed: {now}\n---\n\n{reason.strip()}\n"
        edit = Edit("create", CLOSED, "set aside", page.encode())
        decided = Record("close", "", "", 0, note=reason.strip())
        _carry_out(workspace, decided, edit, options.actor, reason)
        return now, _commit(workspace, options, "close")


def _carry_out(
    workspace: Workspace, decided: Record, edit: Edit, surface: str, *notes: str
) -> None:
    """The decision is on record before the file that closes or reopens the run changes."""
    digest = hashlib.sha256(edit.data).hexdigest() if edit.data else ""
    decided = decided._replace(file=edit.path, file_hash=digest)
    line = change_set.signed(workspace, surface, (decided,))
    for written in (line, edit):
        change_set.write(workspace, written)
    performed = Performed(decided.event, "", files=(edit.path,), notes=notes, who=line.who)
    carry_out.record(workspace, surface, performed)


def _commit(workspace: Workspace, options: Options, what: str) -> str | None:
    """A run that cannot be read is closed as well, and nothing says then whether to commit."""
    surveyed = survey(workspace)
    if surveyed.facts is None:
        return None
    job = Job.of(workspace, surveyed, options)
    return change_set.commit_files(job, (CLOSED,), what, "the run")


def reopen(workspace: Workspace, options: Options) -> str | None:
    if options.dry_run:
        _must_be_closed(workspace)
        return None
    with workspace.locked(options.lock_timeout, "qrspi reopen"):
        _must_be_closed(workspace)
        edit = Edit("remove", CLOSED, "taken up again")
        _carry_out(workspace, Record("reopen", "", "", 0), edit, options.actor)
        return _commit(workspace, options, "reopen")


def must_be_open(tree: Tree) -> None:
    if exists(tree, CLOSED):
        why = closed_run.since(tree.read(CLOSED))
        hint = f"qrspi reopen {tree.name}"
        message = f"{tree.name} is closed{why}: `{hint}` takes it up again"
        raise Refusal(Problem("already-closed", message, file=CLOSED, hint=hint))


def _must_be_closed(tree: Tree) -> None:
    if not exists(tree, CLOSED):
        message = f"{tree.name} is not closed: there is nothing to reopen"
        hint = f"qrspi status {tree.name}"
        raise Refusal(Problem("not-closed", message, file=CLOSED, hint=hint))
