from __future__ import annotations

import pytest

from qrspi.core.artifacts import task_file
from qrspi.core.artifacts.task_file import Task, VisualCheck
from qrspi.core.filenames import FixRound, fix_round
from qrspi.core.model import Problem
from qrspi.core.tree import Fault, MemoryTree

FULL = b"""\
---
status: approved
phase: 2
target_files: [src/a.py, "src/b.py"]
dependencies: [task-01, Task 2]
visual_fidelity_check:
  wireframe_paths: [assets/login.png]
  screenshot_paths:
    - assets/login-now.png
enforcement: strict
allowed_files: [src/**]
constraints: []
---

# Task 3: Sign in with a link

- **Target files:** `never/read.py`
"""
BULLETS = b"""\
---
status: draft
---

```
- **Target files:** `in/a/fence.py`
```

# Sign out

- **Target files:** `src/out.py` (new), src/in.py (modify, twice), 3 x `docs/*.md`
- **Dependencies:** Task 1, task-02 (same file), 10b
- **Target files:** `second/bullet.py`
"""


@pytest.mark.parametrize(
    ("content", "task"),
    [
        (
            FULL,
            Task(
                "task-03",
                "Sign in with a link",
                "approved",
                2,
                ("src/a.py", "src/b.py"),
                ("task-01", "task-02"),
                VisualCheck(("assets/login.png",), ("assets/login-now.png",)),
                ("src/**",),
            ),
        ),
        (
            BULLETS,
            Task(
                "task-03",
                "Sign out",
                "draft",
                None,
                ("src/out.py", "src/in.py", "docs/*.md"),
                ("task-01", "task-02", "task-10b"),
            ),
        ),
        (BULLETS.replace(b"\n", b"\r\n"), "the same"),
        (b"", Task("task-03", "", "draft", None, (), ())),
        (b"# Task 03: Only a title #\n", Task("task-03", "Only a title", "draft", None, (), ())),
        (b"- **Dependencies:** none\n", Task("task-03", "", "draft", None, (), ())),
        (b"- **Dependencies:** none (was task-01)\n", Task("task-03", "", "draft", None, (), ())),
        (
            b"- **Dependencies:** the database\n",
            Task("task-03", "", "draft", None, (), ("the database",)),
        ),
    ],
)
def test_a_task_says_what_it_is(content: bytes, task: Task | str) -> None:
    expected = task_file.read(BULLETS, "task-03") if task == "the same" else task
    assert task_file.read(content, "task-03") == expected


@pytest.mark.parametrize(
    ("field", "check"),
    [
        ("", None),
        ("visual_fidelity_check:", None),
        ("visual_fidelity_check: {}", None),
        ("visual_fidelity_check: []", None),
        ("visual_fidelity_check: ''", None),
        ("visual_fidelity_check: yes", VisualCheck((), ())),
        ("visual_fidelity_check: {wireframe_paths: []}", VisualCheck((), ())),
        ("visual_fidelity_check: {wireframe_paths: a.png}", VisualCheck(("a.png",), ())),
    ],
)
def test_an_empty_visual_check_is_none(field: str, check: VisualCheck | None) -> None:
    task = task_file.read(f"---\nstatus: draft\n{field}\n---\n".encode(), "task-01")
    assert isinstance(task, Task)
    assert task.visual_check == check


@pytest.mark.parametrize("phase", ["one", "0", "-1", "1.5", '"1"', "01", "[1]", ""])
def test_a_phase_that_is_no_number_is_a_problem(phase: str) -> None:
    found = "a list or block" if phase == "[1]" else phase
    assert task_file.read(f"---\nphase: {phase}\n---\n".encode(), "task-07") == Problem(
        "field-invalid",
        f"tasks/task-07.md: phase is {found}; expected a whole number from 1",
        file="tasks/task-07.md",
        field="phase",
        found=found,
        expected="a whole number from 1",
    )


def test_a_task_that_cannot_be_read_is_a_problem() -> None:
    assert task_file.read(Fault("unreadable", "Permission denied"), "task-01") == Problem(
        "task-unreadable",
        "tasks/task-01.md cannot be read: Permission denied",
        file="tasks/task-01.md",
        found="Permission denied",
    )


def test_reading_all_keeps_the_good_ones_beside_the_bad_one() -> None:
    tree = MemoryTree(
        {
            "tasks/task-10.md": b"# Ten\n",
            "tasks/task-02.md": b"# Two\n",
            "tasks/task-02a.md": b"# Two a\n",
            "tasks/task-03.md": b"---\nstatus: [\n---\n",
            "tasks/notes.md": b"# Not a task\n",
            "tasks/task-1.md": b"# Not a task\n",
            "tasks/task-04.md~": b"# Not a task\n",
        }
    )
    found, problems = task_file.read_all(tree)
    assert list(found) == ["task-02", "task-02a", "task-10"]
    assert [(problem.code, problem.file) for problem in problems] == [
        ("invalid-frontmatter", "tasks/task-03.md")
    ]


@pytest.mark.rule("ST-08")
def test_the_scan_warns_of_what_approved_and_draft_tasks_leave_unsaid() -> None:
    tree = MemoryTree(
        {
            "tasks/task-01.md": FULL,
            "tasks/task-02.md": b"---\nstatus: approved\nconstraints: none\n---\n",
            "tasks/task-03.md": b"# No frontmatter\n",
            "tasks/task-04.md": b"---\nstatus: replan-draft\n---\n",
            "tasks/task-05.md": b"---\nstatus: approved\nstatus: draft\n---\n",
            "tasks/readme.md": b"# Not a task\n",
        }
    )
    assert task_file.scan(tree) == (
        Problem(
            "task-incomplete",
            "tasks/task-02.md: no enforcement, allowed_files in its frontmatter",
            file="tasks/task-02.md",
            field="enforcement, allowed_files",
        ),
        Problem(
            "task-incomplete",
            "tasks/task-03.md: no enforcement, allowed_files, constraints in its frontmatter",
            file="tasks/task-03.md",
            field="enforcement, allowed_files, constraints",
        ),
    )


def test_a_run_without_tasks_has_nothing_to_scan() -> None:
    assert task_file.scan(MemoryTree({"goals.md": b""})) == ()


def _task(key: str, status: str = "approved") -> Task:
    task = task_file.read(f"---\nstatus: {status}\n---\n".encode(), key)
    assert isinstance(task, Task)
    return task


@pytest.mark.rule("IMP-01")
def test_the_quick_batch_is_every_approved_task_but_the_baseline_repair() -> None:
    found = [
        _task("task-10"),
        _task("task-02"),
        _task("task-00"),
        _task("task-00a"),
        _task("task-03", "draft"),
        _task("task-02b"),
    ]
    assert task_file.quick_batch(found) == ("task-02", "task-02b", "task-10")


@pytest.mark.rule("IMP-01")
def test_the_batch_of_a_fix_round_is_every_file_of_its_folder() -> None:
    tree = MemoryTree(
        {
            "fixes/integration-round-02/fix-task-01.md": b"",
            "fixes/integration-round-02/second.md": b"",
            "fixes/integration-round-02/.second.md.swp": b"",
            "fixes/integration-round-02/second.md~": b"",
            "fixes/integration-round-02/log.txt": b"",
            "fixes/integration-round-02/nested/other.md": b"",
            "fixes/integration-round-01/old.md": b"",
        }
    )
    assert task_file.fix_batch(tree, FixRound("integration", 2)) == (
        "fixes/integration-round-02/fix-task-01.md",
        "fixes/integration-round-02/second.md",
    )
    assert task_file.fix_batch(tree, FixRound("ci", 1)) == ()


@pytest.mark.rule("IMP-01")
@pytest.mark.parametrize(
    ("name", "fixes"),
    [
        ("integration-round-01", FixRound("integration", 1)),
        ("ci-round-12", FixRound("ci", 12)),
        ("test-round-100", FixRound("test", 100)),
        ("test-round-1", None),
        ("test-round-00", None),
        ("design-round-01", None),
        ("test-round-01.md", None),
    ],
)
def test_fix_rounds_are_known_by_their_folder(name: str, fixes: FixRound | None) -> None:
    assert fix_round(name) == fixes
