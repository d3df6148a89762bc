"""What is odd about this machine, this project and its runs. Nothing is repaired here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Halt
from qrspi.core.model import Problem
from qrspi.core.pipeline import STEPS, Subject, subject
from qrspi.core.rounds import loop as loops
from qrspi.core.steps.facts import entries
from qrspi.core.tree import Fault
from qrspi.handlers.runs import start_run as begin
from qrspi.world.files import json_log as applog
from qrspi.world.files import mounts
from qrspi.world.files.run_tree import DiskTree, inside_git
from qrspi.world.machine import surroundings
from qrspi.world.runs import heartbeat, locate
from qrspi.world.runs.locate import Root, RunDir
from qrspi.world.runs.workspace import LOCK

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
        return [*signs, Sign("note", "runs", message, "qrspi init SLUG --pipeline quick")]
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
            yield _no_run(root, name)
    yield from _watching(root)


def _no_run(root: Root, name: str) -> Sign:
    folder = DiskTree(root.runs_dir)
    kinds = {entry.name: entry.kind for entry in entries(folder, "")}
    if kinds.get(name) != "dir":
        what = "a link, which is not followed" if kinds.get(name) == "link" else "no folder"
        return Sign("note", "runs", f"{name} is no run: it is {what}")
    message = f"{name} is no run: it has neither config.md nor goals.md"
    adoptable = begin.holds_artifacts([entry.name for entry in entries(folder, name)])
    hint = f"qrspi init --adopt {root.runs_dir}/{name}" if adoptable else ""
    return Sign("note", "runs", message, hint)


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
    state = derive(tree, run.path)
    yield from (_sign("problem", run.name, error) for error in state.errors)
    yield from (_sign("note", run.name, warning) for warning in state.warnings)
    told = {warning.message for warning in state.warnings}
    for about in _subjects(tree):
        odd = (item for item in loops.odd_names(tree, about) if item.message not in told)
        yield from (Sign("note", run.name, item.message) for item in odd)
    for log in LOGS:
        wrong = (line for line in applog.read(tree, log) if isinstance(line, Problem))
        yield from (Sign("note", run.name, line.message) for line in wrong)
    left = surroundings.leftovers(tree)
    yield from (_leftover(f"{run.name}/{path}", "the next command on it") for path in left)
    if surroundings.lock_state(tree, LOCK) == "left":
        message = f"{LOCK}: its last holder was killed; the lock is free, and the next command on "
        yield Sign("note", run.name, f"{message}the run cleans up")


def _sign(level: Literal["note", "problem"], run: str, found: Problem) -> Sign:
    if found.file == "config.md":
        return Sign(level, run, found.message, f"qrspi config validate {run}")
    return Sign(level, run, found.message, f"qrspi explain {run}" if level == "problem" else "")


def _subjects(tree: DiskTree) -> Iterator[Subject]:
    """Everything with a folder of reviews."""
    folders = {step.reviews: step.name for step in STEPS}
    keys = [*folders.values(), *(entry.name for entry in entries(tree, "reviews/tasks"))]
    found = (subject(key) for key in keys)
    yield from (about for about in found if about)
