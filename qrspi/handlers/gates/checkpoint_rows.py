"""The rows of tasks in orchestration.db: create them, mark work as begun, and read them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core.artifacts.task_file import task_path
from qrspi.core.errors import Halt, Refusal
from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_tables import (
    ADD_ROW,
    BEGIN_WORK,
    BESIDE,
    FILE,
    LAST_FAULT,
    OWN_FAULTS,
    ROWS,
    UNDECIDED,
)
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.handlers.jobs import carry_out
from qrspi.handlers.jobs.job import Job, Performed
from qrspi.world.files import orchestration_db
from qrspi.world.files.orchestration_db import Transaction
from qrspi.world.git import repository, worktrees
from qrspi.world.git.repository import Repo
from qrspi.world.machine import clock
from qrspi.world.runs.workspace import Workspace


class Added(NamedTuple):
    made: bool  # the database itself
    tasks: tuple[str, ...]


def heartbeat() -> str:
    """The present time in the form of SQLite's `datetime('now')`."""
    return clock.now_utc().replace("T", " ").removesuffix("Z")


def board(workspace: Workspace) -> Board:
    known = checkpoint_board.read(workspace)
    if isinstance(known, Problem):
        raise Halt(known)
    if known is None:
        hint = f"qrspi checkpoint init {workspace.name}"
        text = f"{FILE} is not there: make it with `{hint}`"
        raise Refusal(Problem("no-database", text, FILE, hint=hint))
    return known


def missing(workspace: Workspace, keys: Iterable[str]) -> Added:
    found = checkpoint_board.read(workspace)
    if isinstance(found, Problem):
        raise Halt(found)
    known = found.rows if found else {}
    return Added(found is None, tuple(key for key in keys if key not in known))


def add(workspace: Workspace, keys: Iterable[str], timeout: float) -> Added:
    due = missing(workspace, keys)
    rows = [(key, heartbeat(), f"{workspace.path}/{task_path(key)}") for key in due.tasks]
    repo = repository.find(workspace.path)
    if repo:
        keep_out(repo, workspace.path)
    if due.made:
        workspace.create(FILE, orchestration_db.new(rows))
    elif rows:
        with orchestration_db.changing(workspace.path, timeout) as change:
            for row in rows:
                change.run(ADD_ROW, *row)
    return due


def keep_out(repo: Repo, run: str) -> None:
    """It belongs to this machine, so git is told to ignore it before it exists."""
    folder = repo.from_root(f"{run}/..")
    place = "" if folder == "." else f"/{_escaped(folder)}"
    for name in (FILE, *BESIDE):
        worktrees.exclude(repo, f"{place}/*/{name}" if place else f"/*/{name}")


def _escaped(path: str) -> str:
    """A line of git's ignore file; `?` stands for characters that no line can contain."""
    marked = re.sub(r"([\\*?\[ ])", r"\\\1", path)
    return marked.replace("\n", "?")


def handle(job: Job) -> Performed:
    added = add(job.workspace, job.facts.tasks, job.options.lock_timeout)
    done = performed(job.facts.step, added)
    if not job.workspace.changes:
        carry_out.tell(job.workspace, job.options.actor, done)
    return done


def performed(step: str, added: Added) -> Performed:
    what = "made with" if added.made else "has new"
    notes = (f"{FILE} {what} rows of {', '.join(added.tasks) or 'no task'}",)
    return Performed("checkpoint-rows", step, 0, (FILE,), notes)


def begin(job: Job, key: str) -> tuple[str, ...]:
    """A note when the database cannot be told. A row that says more is left alone."""
    if key not in job.facts.tasks:
        return ()
    try:
        add(job.workspace, (key,), job.options.lock_timeout)
        with orchestration_db.changing(job.workspace.path, job.options.lock_timeout) as change:
            _work(change, key)
    except Halt as halt:
        return (halt.problem.message,)
    return ()


def _work(change: Transaction, key: str) -> None:
    before = change.rows(LAST_FAULT)[0][0]
    change.run(BEGIN_WORK, heartbeat(), heartbeat(), key)
    forgive(change, before)


def forgive(change: Transaction, before: int) -> None:
    """The trigger uses its own clock, and would take our fixed time for an old one."""
    if clock.is_fixed():
        change.run(OWN_FAULTS, before)


def refuse_undecided(job: Job, key: str) -> None:
    known = checkpoint_board.read(job.workspace)
    if isinstance(known, Problem):
        raise Halt(known)
    row = known.rows.get(key) if known else None
    if known is None or row is None or row.state not in UNDECIDED:
        return
    hint = f"qrspi checkpoint list {job.run} {key}"
    if row.state != "review_failed":
        hint = checkpoint_board.review_command(job.run, known, key)
    text = f"{key} is {row.state} in {FILE}, so it is not done: expected an approved review"
    problem = Problem("checkpoint-open", text, FILE, "state", row.state, "review_approved", hint)
    raise Refusal(problem)


def states(change: Transaction) -> dict[str, str]:
    return {task: state for task, state, _ in change.rows(ROWS)}
