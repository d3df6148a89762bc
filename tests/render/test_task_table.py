"""Tasks as a table: on a narrow terminal the titles stay whole."""

from __future__ import annotations

from qrspi.core.code_steps.batch import Item
from qrspi.core.code_steps.task_state import TaskState
from qrspi.render import task_table

TASKS = (
    TaskState(Item("task-01", "tasks/task-01.md", "Links that work but once"), "clean"),
    TaskState(Item("task-02", "tasks/task-02.md", "Mails", wave=2), "implementing"),
)


def test_with_room_every_column_is_there() -> None:
    assert task_table.lines(TASKS, frozenset(), 100) == [
        "WAVE  TASK     STATE         ROUND  COMMIT  BASE                TITLE",
        "1     task-01  clean         -      -       feature branch tip  Links that work but once",
        "2     task-02  implementing  -      -       feature branch tip  Mails",
    ]


def test_other_columns_go_before_a_title_is_cut() -> None:
    assert task_table.lines(TASKS, frozenset(), 80) == [
        "WAVE  TASK     STATE         ROUND  COMMIT  TITLE",
        "1     task-01  clean         -      -       Links that work but once",
        "2     task-02  implementing  -      -       Mails",
    ]
    assert task_table.lines(TASKS, frozenset(), 40) == [
        "TASK     STATE         TITLE",
        "task-01  clean         Links that work…",
        "task-02  implementing  Mails",
    ]


def test_a_merged_task_is_told_as_merged() -> None:
    assert task_table.lines(TASKS, frozenset({"task-01"}), 100)[1].split()[2:4] == [
        "clean,",
        "merged",
    ]
