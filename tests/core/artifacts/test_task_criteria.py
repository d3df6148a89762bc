"""Criteria by name, and which of them a text maps to a test."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts import task_criteria
from qrspi.core.artifacts.task_criteria import Criterion
from tests import runs

TASK = """\
---
status: approved
---
# Task 01: Lend

## Description
- No criterion.

## Acceptance Criteria

- [ ] First,
  over two lines.
* Second.
3. Third.

## Context
- Not one either.
"""
NAMES = [Criterion(f"task-01.{number}", "") for number in (1, 2, 3)]


def test_each_item_of_the_section_is_a_criterion() -> None:
    tree = runs.tree({"tasks/task-01.md": TASK.encode(), "tasks/task-02.md": b"# Task 02: None\n"})
    assert task_criteria.read(tree, ("task-01", "task-02", "task-09")) == (
        Criterion("task-01.1", "First, over two lines."),
        Criterion("task-01.2", "Second."),
        Criterion("task-01.3", "Third."),
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("- task-01.1: a\n- task-01.2: b\n- task-01.3: c\n", []),
        ("| `task-01.1` | a |\n| task-01.2 | b |\ntask-01.3 - c\n", []),
        ("- task-01.1\n- task-01.2:\n- task-01.3: c\n", ["task-01.1", "task-01.2"]),
        ("see task-01.1: a\n", ["task-01.1", "task-01.2", "task-01.3"]),
        ("- task-01.11: a\n", ["task-01.1", "task-01.2", "task-01.3"]),
        ("", ["task-01.1", "task-01.2", "task-01.3"]),
    ],
)
def test_a_line_maps_a_criterion_when_it_says_more_than_its_name(
    text: str, left: list[str]
) -> None:
    assert [one.name for one in task_criteria.unmapped(NAMES, text)] == left
