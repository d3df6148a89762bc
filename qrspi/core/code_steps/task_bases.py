"""What a task is built on: commits of other tasks that were reviewed, and whether those are still
the reviewed ones."""

from __future__ import annotations

from collections.abc import Mapping

from qrspi.core.code_steps.batch import Item
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Start


class Moved(NamedTuple):
    """A task that has another reviewed commit by now."""

    key: str
    then: str
    now: str

    @property
    def words(self) -> str:
        return f"{self.key} was at {self.then[:12]} and is at {self.now[:12]} now"


def moved(item: Item, start: Start, reviewed: Mapping[str, str]) -> tuple[Moved, ...]:
    """What has changed below a task since it was started."""
    known = _built_on(item, start)
    found = (Moved(key, then, reviewed.get(key, then)) for key, then in known.items())
    return tuple(one for one in found if one.now != one.then)


def is_told(start: Start, changes: tuple[Moved, ...]) -> bool:
    """Whether it is on record that the task stays on what it began with all the same."""
    told = task_records.commits_of(start.stays_without)
    return all(told.get(one.key) == one.now for one in changes)


def warning(key: str, start: Start, changes: tuple[Moved, ...]) -> Problem:
    listed = "; ".join(one.words for one in changes)
    text = (
        f"{key} has work of its own in {start.worktree} and stays on what it began with: {listed}"
    )
    return Problem("older-base", text, task_records.start_file(key), "built_on", hint="")


def _built_on(item: Item, start: Start) -> dict[str, str]:
    """Records made before this was written down say it for a single task only."""
    known = task_records.commits_of(start.built_on)
    if known or item.base.kind != "task":
        return known
    return {item.base.name: start.base_commit}
