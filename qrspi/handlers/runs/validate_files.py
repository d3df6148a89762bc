"""Check files, each by its kind; a folder stands for every file of a run below it."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.config import reader as configs
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEPS
from qrspi.core.steps import text_form
from qrspi.core.tree import CONFIG_LIMIT, Fault
from qrspi.core.validation.file_check import Inspected, inspect, limit
from qrspi.core.validation.file_kinds import kind_of
from qrspi.core.yaml import frontmatter
from qrspi.world.files import json_log
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.runs import lone_file

_DEEPEST = 12
_HEADS = ("artifact", "companion")
_AT_THE_TOP = frozenset(step.artifact for step in STEPS if "/" not in step.artifact)


class Checked(NamedTuple):
    file: str  # as the caller named it
    kind: str
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check(path: str) -> list[Checked]:
    """Empty for a folder without any file that a run could have."""
    file = lone_file.at(path)
    if isinstance(DiskTree(file.path).entries(""), Fault):
        return [_check(file.folder, file.name, file.shown)]
    return list(_below(file.path, file.shown, _DEEPEST))


def _below(folder: str, shown: str, depth: int) -> Iterator[Checked]:
    entries = DiskTree(folder).entries("")
    if isinstance(entries, Fault):
        yield _unlisted(shown, entries)
        return
    for entry in entries:
        path = f"{shown}/{entry.name}"
        if kind_of(f"{folder}/{entry.name}").kind != "other":
            yield _check(folder, entry.name, path)
        elif entry.kind == "dir" and depth and not entry.name.startswith("."):
            yield from _below(f"{folder}/{entry.name}", path, depth - 1)


def _unlisted(shown: str, fault: Fault) -> Checked:
    message = f"{shown}/ cannot be listed: {fault.reason}"
    return Checked(shown, "other", (Problem("unreadable", message, file=shown),), ())


def _check(folder: str, name: str, shown: str) -> Checked:
    kind = kind_of(f"{folder}/{name}")
    tree = DiskTree(folder)
    head = kind.kind in _HEADS
    content = tree.head(name) if head else tree.read(name, limit(kind.kind))
    seen = inspect(kind, shown, content, _is_strict(folder))
    if head and not seen.problems:
        seen = seen._replace(problems=_formless(tree, name, shown))
    if kind.kind == "log" and not isinstance(content, Fault):
        seen = _log(tree, name, shown)
    return Checked(shown, kind.kind, *seen)


def _formless(tree: DiskTree, name: str, shown: str) -> tuple[Problem, ...]:
    """What nobody is asked to review. A person who approved it wanted it so."""
    data = tree.read(name)
    if isinstance(data, Fault) or frontmatter.status(data, name)[0] == "approved":
        return ()
    of_research = name not in _AT_THE_TOP and name.startswith(("q", "summary"))
    file = f"research/{name}" if of_research else name
    fault = text_form.fault(file, data, bool(task_file.read_keys(tree)))
    if fault is None:
        return ()
    rest = fault.message.removeprefix(file)
    return (fault._replace(file=shown, message=f"{shown}{rest}"),)


def _log(tree: DiskTree, name: str, shown: str) -> Inspected:
    wrong = (item for item in json_log.read(tree, name) if isinstance(item, Problem))
    placed = (
        item._replace(file=shown, message=f"{shown}{item.message[len(name) :]}") for item in wrong
    )
    return Inspected(tuple(placed))


def _is_strict(folder: str) -> bool:
    while folder:
        content = DiskTree(folder).read("config.md", CONFIG_LIMIT)
        if not isinstance(content, Fault):
            return configs.read(content).guard == "strict"
        folder = folder.rpartition("/")[0]
    return False
