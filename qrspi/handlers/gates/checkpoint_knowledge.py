"""Take proposals into the knowledge of a run.

A proposal is deleted after its entry is on disk. A kill in between leaves the same text twice; the
next command recognises the duplicate and removes it.
"""

from __future__ import annotations

from typing import Literal

from qrspi.core.gates.checkpoints import checkpoint_board, checkpoint_knowledge
from qrspi.core.gates.checkpoints.checkpoint_knowledge import FOLDER, LIMIT, PROPOSALS, Overlap
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.tree import Fault, entries
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Options, Performed
from qrspi.world.runs.workspace import Workspace

Action = Literal["deleted", "ingested", "merged"]


class TakenProposal(NamedTuple):
    proposal: str  # run-relative
    overlap: Overlap
    action: Action
    entry: str  # run-relative: where its text stands now


class Outcome(NamedTuple):
    done: tuple[TakenProposal, ...] = ()
    deferred: bool = False  # somebody waits for a review, which comes first
    because: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # proposals that are still there


def pending(workspace: Workspace) -> tuple[str, ...]:
    board = checkpoint_board.read(workspace)
    if isinstance(board, Problem):
        return (board.message,)
    if board is None:
        return ()
    return tuple(f"{task} is {board.rows[task].state} and comes first" for task in board.pending)


def process(workspace: Workspace, options: Options, *, merge: bool = False) -> Outcome:
    """On a locked run, one proposal after another. A review that arrives meanwhile goes first."""
    proposals, odd = _proposals(workspace)
    outcomes: list[TakenProposal] = []
    for at, path in enumerate(proposals):
        if waits := pending(workspace):
            return Outcome(tuple(outcomes), True, (*waits, *odd.values()), (*proposals[at:], *odd))
        taken = _take(workspace, path, merge)
        outcomes.append(taken)
        note = f"{taken.proposal}: {taken.overlap.kind}, {taken.action}: {taken.entry}"
        finished = Performed("checkpoint-knowledge", "", 0, (taken.entry,), (note,))
        carry_out.record(workspace, options.actor, finished)
    return Outcome(tuple(outcomes), False, tuple(odd.values()), tuple(odd))


def _proposals(workspace: Workspace) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those that can be taken, and why the others cannot. Other types are not handled here."""
    good: list[str] = []
    odd: dict[str, str] = {}
    for entry in entries(workspace, PROPOSALS):
        path = f"{PROPOSALS}/{entry.name}"
        if not entry.name.endswith(".md") or entry.kind == "dir":
            continue
        data = workspace.read(path, LIMIT)
        if isinstance(data, Fault):
            odd[path] = f"{path} cannot be read: {data.reason}"
        elif not checkpoint_knowledge.is_proposal(data):
            continue
        elif checkpoint_knowledge.is_empty(data):
            odd[path] = f"{path} says nothing below its frontmatter"
        else:
            good.append(path)
    return tuple(good), odd


def _entries(workspace: Workspace) -> dict[str, bytes]:
    named = (f"{FOLDER}/{one.name}" for one in entries(workspace, FOLDER) if one.kind == "file")
    read = {path: workspace.read(path, LIMIT) for path in named if path.endswith(".md")}
    return {path: data for path, data in read.items() if isinstance(data, bytes)}


def _take(workspace: Workspace, path: str, merge: bool) -> TakenProposal:
    data = workspace.read(path, LIMIT)
    assert isinstance(data, bytes)  # read a moment ago, under the lock
    known = _entries(workspace)
    overlap = checkpoint_knowledge.overlap(data, known)
    if overlap.kind == "duplicate":
        taken = TakenProposal(path, overlap, "deleted", overlap.entry)
    elif overlap.kind == "partial" and merge:
        old = known[overlap.entry]
        workspace.replace(overlap.entry, old, checkpoint_knowledge.merged(old, data))
        taken = TakenProposal(path, overlap, "merged", overlap.entry)
    else:
        name = path.rpartition("/")[2]
        names = frozenset(one.name for one in entries(workspace, FOLDER))
        entry = f"{FOLDER}/{checkpoint_knowledge.free_name(name, names)}"
        workspace.create(entry, data)
        taken = TakenProposal(path, overlap, "ingested", entry)
    workspace.remove(path)
    return taken
