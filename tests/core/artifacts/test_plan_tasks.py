"""Tasks that a plan names, held against their files."""

from __future__ import annotations

import pytest

from qrspi.core.artifacts import plan_tasks
from qrspi.core.derivation.derive import derive
from qrspi.core.tree import MemoryTree
from tests.runs import approved, artifact, config, manifest

PLAN = artifact(
    body="""\
# Plan

| Task | What |
|---|---|
| T01 | one |
| [task-02](tasks/task-02.md) | two |

## Task 3: three

```
## Task 9: shown only
```
"""
)


def told(**files: bytes) -> list[str]:
    tree = MemoryTree({"plan.md": PLAN} | files)
    return [problem.message for problem in plan_tasks.without_file(tree)]


@pytest.mark.rule("LIV-17")
def test_each_task_without_a_file_is_named() -> None:
    assert told(**{"tasks/task-02.md": b"", "phases/phase-01/tasks/task-01.md": b""}) == [
        "plan.md:12: task-03 has no file tasks/task-03.md; write it, or take the task out of the "
        "plan"
    ]
    assert len(told()) == 3


@pytest.mark.rule("LIV-17")
def test_no_reviewer_is_sent_to_a_plan_whose_tasks_are_only_in_it() -> None:
    before = approved("goals", "questions", "research", "design", "structure", "phasing")
    files = {"config.md": config(), **before, "plan.md": PLAN}
    answer = derive(MemoryTree(files)).next
    assert (answer.action, answer.kind, len(answer.because)) == ("blocked", "plan-tasks", 3)
    files |= {f"tasks/task-0{at}.md": b"---\nstatus: draft\n---\n# Task\n" for at in (1, 2, 3)}
    assert derive(MemoryTree(files)).next.action == "prepare-round"


@pytest.mark.rule("LIV-17")
def test_nor_is_the_round_of_such_a_plan_renewed() -> None:
    before = approved("goals", "questions", "research")
    files = {"config.md": config("quick"), **before, "plan.md": PLAN}
    files |= {"reviews/plan/round-01/.dispatch-manifest.json": manifest("plan", body=artifact())}
    assert derive(MemoryTree(files)).next.kind == "plan-tasks"
    files |= {f"tasks/task-0{at}.md": b"---\nstatus: draft\n---\n# Task\n" for at in (1, 2, 3)}
    assert derive(MemoryTree(files)).next.action == "prepare-round"


TABLE = artifact(
    body="""\
# Plan

| Task | What | Depends on |
|---|---|---|
| T01 | one | none |
| Task 2: two | two | `T01` |
| task-03 | three | T01; task-02 (its names), the mail library |
"""
)


@pytest.mark.rule("LIV-22", "LIV-17")
def test_what_a_task_depends_on_is_said_in_its_file_too() -> None:
    """Else it would be built on something else than the plan says, and nobody would be told."""
    texts = {"01": "[]", "02": "[]", "03": "[task-01]"}
    tasks = {
        f"tasks/task-{number}.md": f"---\nstatus: draft\ndependencies: {needs}\n---\n# x\n".encode()
        for number, needs in texts.items()
    }
    files = {"config.md": config("quick"), "plan.md": TABLE, **approved("goals", "questions")}
    answer = derive(MemoryTree(files | approved("research") | tasks)).next
    assert (answer.kind, answer.because) == (
        "plan-tasks",
        (
            "plan.md:10: task-02 depends on task-01, and tasks/task-02.md does not say so; add "
            "task-01 to its dependencies, or take it out of the plan",
            "plan.md:11: task-03 depends on task-02, and tasks/task-03.md does not say so; add "
            "task-02 to its dependencies, or take it out of the plan",
        ),
    )
    for number, needs in (("02", "[T01]"), ("03", "[task-01, task-02]")):
        text = f"---\nstatus: draft\ndependencies: {needs}\n---\n# x\n"
        tasks[f"tasks/task-{number}.md"] = text.encode()
    answer = derive(MemoryTree(files | approved("research") | tasks)).next
    assert answer.action == "prepare-round"
