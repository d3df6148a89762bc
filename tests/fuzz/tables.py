"""Parallelization tables: any of them is a plan whose waves can be worked off, or problems."""

from __future__ import annotations

from random import Random

from qrspi.core.artifacts import parallelization
from qrspi.core.artifacts.branch_map import Plan
from qrspi.core.model import Problem
from tests.fuzz.case import Fuzz

FEATURE = "feature branch tip"
PATHS = ("a.py", "src/*.py", "src/**", "**", "docs/b.md", "../x", "a b.py", "`c.py`", "", "none")
BASES = (FEATURE, "main", "task-99 tip", "stage-after-W9", "", "Task-01 tip", "task-01")
CELLS = ("", "|", "\\|", "none", "n/a", "task-01", "merge()", "merge(task-01, )", "é", "**", "`x`")
LINES = (
    "```",
    "<!--",
    "-->",
    "---",
    "",
    "|",
    "| a |",
    "## Runtime Adjustments",
    "|-|-|-|",
    "\t|x|",
)


def make(random: Random) -> bytes:
    count = random.randrange(1, random.choice((4, 9, 30)))
    tasks = [f"task-{number:02d}" for number in range(1, count + 1)]
    stages: list[str] = []
    mapped, needs, merged = [], [], []
    for at, task in enumerate(tasks):
        before = tasks[:at]
        known = [FEATURE, *(f"{name} tip" for name in before), *stages]
        mapped.append([task, random.choice(("", f"b/{task}")), random.choice(known)])
        few = random.sample(before, min(len(before), random.randrange(4)))
        paths = ", ".join(random.sample(PATHS[:5], random.randrange(1, 3)))
        needs.append([task, ", ".join(few) or "none", f"{task}.py, {paths}"])
        if before and random.random() < 0.3:
            stage = f"stage-after-W{len(stages) + 1}"
            parts = random.sample([*before, *stages], min(at, random.randrange(1, 4)))
            merged.append([stage, f"merge({', '.join(parts)})", task])
            stages.append(stage)
    for _ in range(random.choice((0, 0, 1, 2, 5))):
        _spoil(random, random.choice((mapped, needs, merged)), tasks)
    return _written(random, mapped, needs, merged)


def _spoil(random: Random, rows: list[list[str]], tasks: list[str]) -> None:
    if not rows:
        rows.append([random.choice(CELLS) for _ in range(3)])
        return
    row = random.choice(rows)
    match random.randrange(5):
        case 0:
            rows.append(list(row))
        case 1:
            rows.remove(row)
        case 2:
            row[-1] = random.choice((*BASES, *PATHS))
        case 3:
            row[1] = ", ".join(random.sample(tasks, random.randrange(len(tasks) + 1)))
        case _:
            row[random.randrange(len(row))] = random.choice(CELLS)


def _written(random: Random, *tables: list[list[str]]) -> bytes:
    heads = (
        ("Branch Map", "| Task | Branch | Base |"),
        ("Dependency Analysis", "| Task | Dependencies | Files |"),
        ("Stage Commits", "| Stage branch | Composition | Created before |"),
    )
    parts = []
    for (title, head), rows in zip(heads, tables, strict=True):
        lines = [f"| {' | '.join(row)} |" for row in rows]
        if random.random() < 0.1:
            lines.insert(random.randrange(len(lines) + 1), random.choice(LINES))
        parts.append("\n".join([f"## {title}", "", head, "|---|---|---|", *lines, ""]))
    random.shuffle(parts)
    return "\n".join(parts).replace("\n", random.choice(("\n", "\n", "\r\n"))).encode()


def check(data: bytes) -> str:
    plan = parallelization.read(data)
    if not isinstance(plan, Plan):
        assert plan and all(isinstance(problem, Problem) for problem in plan), plan
        assert all(problem.message.isprintable() for problem in plan), plan
        return "refused"
    waves = parallelization.waves(plan)
    number = {name: at for at, wave in enumerate(waves) for name in wave}
    assert len(number) == sum(map(len, waves)) == len(plan.branches), waves
    for task, wave in number.items():
        before = parallelization.parents(plan, task)
        assert all(number[name] < wave for name in before), (task, before, waves)
    warnings = parallelization.warnings(plan, {})
    assert all(problem.message.isprintable() for problem in warnings), warnings
    return "planned" if not warnings else "planned, with warnings"


FUZZ = Fuzz("tables", 100_000, make, check)
