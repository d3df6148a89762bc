"""What a pull request is called, and where the work waits."""

from __future__ import annotations

import pytest

from qrspi.core.code_steps import shipping
from tests.core.code_steps.test_implement import facts_of
from tests.deliveries import ended, quick

LONG = "Let people who have signed in on the phone delete a note by the number it has, and undo it"
TITLES = [
    ("# Goals: note tags\n", "Delete a note", "note tags"),
    (
        "# Goals\n",
        "Let people delete a note by its number.\n",
        "Let people delete a note by its number",
    ),
    (
        "# Goals\n",
        f"{LONG}\nMore.\n",
        "Let people who have signed in on the phone delete a note by the number…",
    ),
    ("# Goals\n", "", "User auth"),
]


@pytest.mark.rule("LIV-23")
@pytest.mark.parametrize(("goals", "request_", "title"), TITLES)
def test_a_pull_request_is_called_after_goals_request_or_run(
    goals: str, request_: str, title: str
) -> None:
    files = {"goals.md": f"---\nstatus: approved\n---\n\n{goals}\nText.\n".encode()}
    if request_:
        files["request.md"] = request_.encode()
    assert shipping.title(facts_of(quick(), files)) == title


@pytest.mark.rule("LIV-06")
def test_a_pull_request_lists_the_tasks_of_the_phases_before() -> None:
    page = b"| Task | Title | State |\n|---|---|---|\n| task-07 | Count it | clean |\n"
    facts = facts_of(quick(), {"phases/phase-01/implementation.md": page})
    assert "| task-07 | Count it | clean, in phase 1 |\n" in shipping.pull_request(facts, None)


@pytest.mark.rule("TST-02")
def test_a_pull_request_lists_every_task_of_the_plan_merged_or_not() -> None:
    facts = facts_of(quick(), ended("task-01", "skipped-by-user"))
    assert "| task-01 | Part 1 | skipped-by-user |\n" in shipping.pull_request(facts, None)
    assert "| task-01 | Part 1 | ready |\n" in shipping.pull_request(facts_of(quick()), None)
