"""The acceptance criteria of tasks, each with a name, and which of them a text maps to a test."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qrspi.core.artifacts.task_file import task_path
from qrspi.core.filenames import TASK
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import headings
from qrspi.core.tree import Tree, content

_SECTION = "acceptance criteria"
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")


class Criterion(NamedTuple):
    name: str  # task-01.2: the second of task-01
    text: str


def read(tree: Tree, tasks: Iterable[str]) -> tuple[Criterion, ...]:
    return tuple(
        Criterion(f"{key}.{number}", text)
        for key in tasks
        for number, text in enumerate(_items(content(tree, task_path(key))), 1)
    )


def _items(data: bytes) -> list[str]:
    """A line that does not begin an item continues the one before it."""
    span = headings.read(data).named(_SECTION)
    lines = data.decode("utf-8", "replace").split("\n")[span.start : span.end] if span else []
    items: list[str] = []
    for line in lines:
        if match := _ITEM.match(line):
            items.append(match[1].strip())
        elif items and line.strip():
            items[-1] = f"{items[-1]} {line.strip()}"
    return items


def unmapped(criteria: Iterable[Criterion], text: str) -> tuple[Criterion, ...]:
    """A name that stands alone on a line is mapped to nothing."""
    mapped = {match[1] for match in _MAPPED.finditer(text)}
    return tuple(criterion for criterion in criteria if criterion.name not in mapped)


_MAPPED = re.compile(rf"^[ \t|*+-]*`?({TASK}\.[0-9]+)`?[ \t:|–—-]+\S", re.MULTILINE)
