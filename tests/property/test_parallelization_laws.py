from __future__ import annotations

import random
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrspi.core.artifacts import parallelization
from qrspi.core.artifacts.branch_map import Plan
from qrspi.core.model import Problem
from qrspi.core.text import branch_names

FEATURE = "feature branch tip"
Tasks = list[tuple[str, str, list[str]]]  # name, base, dependencies
Stages = list[tuple[str, list[str]]]  # name, parts


@st.composite
def plans(draw: st.DrawFn) -> tuple[Tasks, Stages]:
    """Tasks with bases and dependencies on earlier ones, and stages of earlier ones."""
    tasks: Tasks = []
    stages: Stages = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        names = [task[0] for task in tasks]
        bases = [FEATURE, *(f"{name} tip" for name in names), *(stage for stage, _ in stages)]
        needs = draw(st.lists(st.sampled_from(names), unique=True, max_size=3)) if names else []
        tasks.append((f"task-{number:02d}", draw(st.sampled_from(bases)), needs))
        if draw(st.booleans()):
            tips = [*(task[0] for task in tasks), *(stage for stage, _ in stages)]
            parts = draw(st.lists(st.sampled_from(tips), unique=True, min_size=1, max_size=3))
            stages.append((f"stage-after-W{number}", parts))
    return tasks, stages


def written(tasks: Tasks, stages: Stages, seed: int = 0) -> bytes:
    shuffle = random.Random(seed).shuffle
    mapped = [f"| {task} | | {base} |" for task, base, _ in tasks]
    needs = [f"| {task} | {', '.join(wanted) or 'none'} | {task}.py |" for task, _, wanted in tasks]
    merged = [f"| {stage} | merge({', '.join(parts)}) | x |" for stage, parts in stages]
    if seed:
        for rows in (mapped, needs, merged):
            shuffle(rows)
    tables = (
        ("Branch Map", "| Task | Branch | Base |", mapped),
        ("Dependency Analysis", "| Task | Dependencies | Files |", needs),
        ("Stage Commits", "| Stage branch | Composition | Created before |", merged),
    )
    parts = (f"## {title}\n\n{head}\n|-|-|-|\n" + "\n".join(rows) for title, head, rows in tables)
    return ("\n\n".join(parts) + "\n").encode()


def read(data: bytes) -> Plan:
    plan = parallelization.read(data)
    assert isinstance(plan, Plan), plan
    return plan


@pytest.mark.rule("IMP-03")
@given(plans(), st.integers(1, 1000))
def test_waves_respect_needs_and_hold_each_task_once_in_any_order_of_rows(
    drawn: tuple[Tasks, Stages], seed: int
) -> None:
    tasks, stages = drawn
    plan = read(written(tasks, stages))
    waves = parallelization.waves(plan)
    assert sorted(name for wave in waves for name in wave) == sorted(task[0] for task in tasks)
    number = {name: at for at, wave in enumerate(waves) for name in wave}
    for task, _, needs in tasks:
        for need in (*needs, *parallelization.parents(plan, task)):
            assert number[need] < number[task]
    assert parallelization.waves(read(written(tasks, stages, seed))) == waves


@pytest.mark.rule("IMP-03")
@given(plans())
def test_no_task_waits_longer_than_it_must(
    drawn: tuple[Tasks, Stages],
) -> None:
    tasks, stages = drawn
    plan = read(written(tasks, stages))
    waves = parallelization.waves(plan)
    for task, _, needs in tasks:
        before = {*needs, *parallelization.parents(plan, task)}
        (number,) = (at for at, wave in enumerate(waves) if task in wave)
        assert number == 0 or before & set(waves[number - 1])


@pytest.mark.rule("IMP-02")
@given(st.integers(2, 8), st.integers(0, 7))
def test_a_ring_is_always_found_and_its_path_closes(size: int, extra: int) -> None:
    ring: Tasks = [
        (f"task-{n:02d}", f"task-{n % size + 1:02d} tip", []) for n in range(1, size + 1)
    ]
    tail: Tasks = [
        (f"task-{size + n + 1:02d}", f"task-{size + n:02d} tip", []) for n in range(extra)
    ]
    problems = parallelization.read(written([*ring, *tail], []))
    assert isinstance(problems, tuple)
    path = " → ".join([f"task-{n:02d}" for n in range(1, size + 1)] + ["task-01"])
    assert [problem.found for problem in problems if isinstance(problem, Problem)] == [path]


LINES = st.sampled_from(
    [
        "## Branch Map",
        "## Stage Commits",
        "## Dependency Analysis",
        "## Runtime Adjustments",
        "| Task | Branch | Base |",
        "| Task | Dependencies | Files |",
        "| Stage branch | Composition | Created before |",
        "|---|---|---|",
        "| task-01 | a | feature branch tip |",
        "| task-01 | task-02 | x |",
        "| task-02 | b/c | stage-after-W1 |",
        "| stage-after-W1 | merge(task-01) | task-02 |",
        "| task-00 | | task-01 tip |",
        "```",
        "<!--",
        "---",
        "",
        "|",
        "| \\| |",
    ]
)


@pytest.mark.rule("IMP-02")
@given(st.one_of(st.binary(max_size=300), st.lists(LINES, max_size=25).map("\n".join)))
def test_any_bytes_give_a_plan_or_problems(data: bytes | str) -> None:
    plan = parallelization.read(data if isinstance(data, bytes) else data.encode())
    if isinstance(plan, Plan):
        assert len({name for wave in parallelization.waves(plan) for name in wave}) == len(
            plan.branches
        )
    else:
        assert plan and all(isinstance(problem, Problem) for problem in plan)


PIECES = (*"ab.@{}/-~^: \\*[?\x7fé", ".lock", "HEAD")


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
def test_git_takes_every_branch_name_that_is_called_safe(name: str) -> None:
    asked = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], capture_output=True)
    if not branch_names.unsafe(name):
        assert asked.returncode == 0
    elif asked.returncode == 0:
        assert name.startswith("-") or name in ("@", "HEAD")
