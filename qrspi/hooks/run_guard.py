"""Files of runs that a tool is about to change: the first reason against it."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.derivation.derive import survey
from qrspi.core.errors import attempt
from qrspi.core.hosts import verdict
from qrspi.core.hosts.verdict import Change
from qrspi.core.hosts.written_files import RunFile, Write
from qrspi.core.model import Problem
from qrspi.core.steps.facts import Facts
from qrspi.core.text.shell_words import at_root
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.hosts import tool_targets


def reason(writes: Iterable[Write], cwd: str) -> str | None:
    known: dict[str, Facts | None] = {}
    for write in dict.fromkeys(tool_targets.in_runs(writes)):
        change = tool_targets.change(write, cwd)
        said = verdict.refusal(change, _facts(change, known)) if change else None
        if change and said:
            return _reachable(said, change.file, cwd)
    return None


def _facts(change: Change, known: dict[str, Facts | None]) -> Facts | None:
    """None where the run cannot be read: a broken run keeps nobody from working, and leaves what no
    agent may write protected."""
    if verdict.step_of(change.file.name) is None:
        return None
    place = tool_targets.place(change.file)
    if place not in known:
        found = attempt(lambda: survey(DiskTree(place), steps=False, ask_git=False))
        known[place] = None if isinstance(found, Problem) else found.facts
    return known[place]


def _reachable(text: str, file: RunFile, cwd: str) -> str:
    """The commands in it run as they are printed, wherever the session stands."""
    inside = f"{cwd}/".startswith(f"{file.project.rstrip('/')}/")
    return text if inside else at_root(text, file.project)
