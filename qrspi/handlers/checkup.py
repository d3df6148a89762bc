"""What is odd about this machine, this project and its runs. Nothing is repaired here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from qrspi.core import loop as loops
from qrspi.core.derive import derive
from qrspi.core.facts import entries
from qrspi.core.model import Problem, RunState
from qrspi.core.pipeline import STEPS, Subject, subject
from qrspi.core.refusal import Halt
from qrspi.core.tree import Fault
from qrspi.world import applog, heartbeat, locate, mounts, surroundings
from qrspi.world.disk import DiskTree, inside_git
from qrspi.world.locate import Root, RunDir
from qrspi.world.workspace import LOCK

LOGS = ("approvals.jsonl", ".qrspi/audit.jsonl", ".qrspi/spend.jsonl")


class Sign(NamedTuple):
    """`problem` keeps something from going on; `note` is worth knowing."""

    level: Literal["ok", "note", "problem"]
    about: str
    message: str
    hint: str = ""


def examine(root: Root | None) -> list[Sign]:
    signs = [Sign("ok", "python", f"Python {surroundings.python_version()}")]
    signs.append(_git(needed=root is not None and inside_git(root.runs_dir)))
    if root is None:
        message = "no docs/qrspi here or in any parent: no run was started yet"
        return [*signs, Sign("note", "runs", message, "qrspi init SLUG")]
    return [*signs, *_folder(root), *_runs(root)]


def _git(needed: bool) -> Sign:
    try:
        return Sign("ok", "git", f"git version {surroundings.git_version()}")
    except Halt as halt:
        return Sign("problem" if needed else "note", "git", halt.problem.message)


def _folder(root: Root) -> Iterator[Sign]:
    others = locate.others(root)
    if isinstance(others, Fault):
        message = f"cannot list {root.runs_dir}: {others.detail or others.kind}"
        yield Sign("problem", "runs", message)
        return
    if not surroundings.is_writable(root.runs_dir):
        message = f"{root.runs_dir} cannot be written: runs can be looked at, not carried on"
        yield Sign("problem", "runs", message)
    left = surroundings.leftovers(DiskTree(root.runs_dir), depth=0)
    yield from (_leftover(f"{root.runs_dir}/{name}", "the next `qrspi init`") for name in left)
    for name in others:
        if name not in left:
            message = f"{name} is no run: it has neither config.md nor goals.md"
            yield Sign("note", "runs", message, f"qrspi init --adopt {root.runs_dir}/{name}")
    yield from _watching(root)


def _watching(root: Root) -> Iterator[Sign]:
    if not mounts.gives_events(root.runs_dir):
        message = f"{root.runs_dir} is on a file system that tells of no changes: they are polled"
        yield Sign("note", "daemon", message)
    daemon = heartbeat.daemon(root.runs_dir)
    yield Sign("ok", "daemon", f"watching, process {daemon.pid}" if daemon else "none is watching")


def _leftover(path: str, remover: str) -> Sign:
    message = f"{path} is left of a command that was killed; {remover} removes it"
    return Sign("note", "leftover", message)


def _runs(root: Root) -> Iterator[Sign]:
    runs = locate.list_runs(root)
    for run in () if isinstance(runs, Fault) else runs:
        signs = list(_run(run))
        yield from signs or [Sign("ok", run.name, "nothing is odd")]


def _run(run: RunDir) -> Iterator[Sign]:
    tree = DiskTree(run.path)
    yield from _config(derive(tree, run.path), run.name)
    for about in _subjects(tree):
        yield from (Sign("note", run.name, odd.message) for odd in loops.odd_names(tree, about))
    for log in LOGS:
        wrong = (line for line in applog.read(tree, log) if isinstance(line, Problem))
        yield from (Sign("note", run.name, line.message) for line in wrong)
    left = surroundings.leftovers(tree)
    yield from (_leftover(f"{run.name}/{path}", "the next command on it") for path in left)
    if surroundings.lock_state(tree, LOCK) == "left":
        message = f"{LOCK}: its last holder was killed; the lock is free, and the next command on "
        yield Sign("note", run.name, f"{message}the run cleans up")


def _config(state: RunState, name: str) -> Iterator[Sign]:
    """What the current step uses blocks it; the rest is told."""
    hint = f"qrspi config validate {name}"
    yield from (Sign("problem", name, error.message, hint) for error in state.errors)
    for warning in state.warnings:
        if warning.file == "config.md":
            yield Sign("note", name, warning.message, hint)


def _subjects(tree: DiskTree) -> Iterator[Subject]:
    """Everything with a folder of reviews."""
    folders = {step.reviews: step.name for step in STEPS}
    keys = [*folders.values(), *(entry.name for entry in entries(tree, "reviews/tasks"))]
    found = (subject(key) for key in keys)
    yield from (about for about in found if about)
