"""A parallelization plan: what each task starts from and waits for, and the waves that gives.

A Plan that was read is sound: every base is known, nothing waits for itself, and no two
tasks of one wave touch the same file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from qrspi.core.artifacts import branch_map, dependency_order
from qrspi.core.artifacts.branch_map import FILE, Base, Branch, Plan, problem_at
from qrspi.core.artifacts.task_file import Task, plain_path, task_path
from qrspi.core.filenames import task_order
from qrspi.core.model import Code, Problem
from qrspi.core.text import branch_names
from qrspi.core.text.shortened import listed

BASELINE = "task-00"


def read(data: bytes) -> Plan | tuple[Problem, ...]:
    """The plan, or everything that is wrong with it."""
    plan, problems = branch_map.parse(data)
    plan = _after_baseline(plan)
    if not {"table-missing", "column-missing"} & {problem.code for problem in problems}:
        problems += tuple(_contradictions(plan))
    return problems or tuple(_cycles(plan)) or tuple(_overlaps(plan)) or plan


def waves(plan: Plan) -> tuple[tuple[str, ...], ...]:
    stages = {stage.name for stage in plan.stages}
    depths = dependency_order.depths(_graph(plan), weightless=stages)
    by_depth: dict[int, list[str]] = {}
    for name in sorted(depths.keys() - stages, key=task_order):
        by_depth.setdefault(depths[name], []).append(name)
    return tuple(tuple(by_depth[depth]) for depth in sorted(by_depth))


def parents(plan: Plan, task: str) -> tuple[str, ...]:
    """The tasks whose tips make up its base: none, one, or those of its stage."""
    branch = plan.branch(task)
    if not branch or branch.base.kind == "feature":
        return ()
    if branch.base.kind == "task":
        return (branch.base.name,)
    tips = {branch.task: () for branch in plan.branches}
    stages = {stage.name: stage.parts for stage in plan.stages}
    merged = dependency_order.behind(branch.base.name, {**tips, **stages})
    return tuple(sorted(merged - stages.keys(), key=task_order))


def batch(plan: Plan, tasks: Mapping[str, Task], phase: int) -> tuple[str, ...]:
    """A task that names no phase belongs to every phase."""
    return tuple(
        name
        for wave in waves(plan)
        for name in wave
        if name not in tasks or tasks[name].phase in (None, phase)
    )


def without_file(plan: Plan, keys: Collection[str]) -> tuple[Problem, ...]:
    missing = [branch for branch in plan.branches if branch.task not in keys]
    return tuple(_without_file(branch.line, branch.task) for branch in missing)


def _without_file(line: int, key: str) -> Problem:
    path = task_path(key)
    return problem_at(line, "task-without-file", f"{key} has no file {path}", "Task", key, path)


def warnings(plan: Plan, tasks: Mapping[str, Task]) -> tuple[Problem, ...]:
    return (*_unread(plan), *_other_files(plan, tasks), *_base_without_dependency(plan))


def _unread(plan: Plan) -> Iterator[Problem]:
    for needs in plan.analysis:
        for words in needs.unread:
            text = (
                f"Files of {needs.task} has '{words}', which names no file; "
                "whether two tasks touch the same file cannot be seen there"
            )
            expected = "every file by its path"
            yield problem_at(needs.line, "files-unread", text, "Files", words, expected)


def _other_files(plan: Plan, tasks: Mapping[str, Task]) -> Iterator[Problem]:
    for needs in plan.analysis:
        task = tasks.get(needs.task)
        own = {plain_path(file) for file in task.target_files} if task else set()
        if task and own and own != set(needs.files):
            only_here = ", ".join(sorted(set(needs.files) - own)) or "nothing"
            only_there = ", ".join(sorted(own - set(needs.files))) or "nothing"
            text = (
                f"the files of {task.key} differ from those in {task.file}: "
                f"only here {only_here}; only there {only_there}"
            )
            yield problem_at(needs.line, "files-differ", text, "Files", only_here, only_there)


def _base_without_dependency(plan: Plan) -> Iterator[Problem]:
    graph = _starts(plan)
    for needs in plan.analysis:
        contained = dependency_order.behind(needs.task, graph) if needs.dependencies else ()
        for name in needs.dependencies:
            if name not in contained:
                text = f"{needs.task} depends on {name}, but its base does not contain it"
                yield problem_at(needs.line, "dependency-not-in-base", text, "Base", name)


def _starts(plan: Plan) -> dict[str, tuple[str, ...]]:
    bases = {
        branch.task: (branch.base.name,) if branch.base.name else () for branch in plan.branches
    }
    return {**bases, **{stage.name: stage.parts for stage in plan.stages}}


def _graph(plan: Plan) -> dict[str, tuple[str, ...]]:
    graph = _starts(plan)
    for needs in plan.analysis:
        graph[needs.task] = (*graph.get(needs.task, ()), *needs.dependencies)
    return graph


def _cycles(plan: Plan) -> Iterator[Problem]:
    for path in dependency_order.cycles(_graph(plan)):
        shown = " → ".join((*path, path[0]))
        message = f"{FILE}: {path[0]} waits for itself: {shown}"
        yield Problem("cycle", message, FILE, "Base", shown)


def _overlaps(plan: Plan) -> Iterator[Problem]:
    files = {needs.task: needs.files for needs in plan.analysis}
    for number, wave in enumerate(waves(plan), start=1):
        touched = {task: files.get(task, ()) for task in wave}
        for file, names in overlaps(touched):
            message = f"{FILE}: {listed(names)} are in one wave (wave {number}) and touch {file}"
            hint = f"start {names[1]} from '{names[0]} tip'"
            yield Problem("file-overlap", message, FILE, "Files", file, hint=hint)


def _after_baseline(plan: Plan) -> Plan:
    """The repair of the baseline comes first: tasks start from it, not from the feature branch."""
    if not plan.branch(BASELINE):
        return plan
    moved = (
        branch._replace(base=Base("task", BASELINE))
        if branch.base.kind == "feature" and branch.task != BASELINE
        else branch
        for branch in plan.branches
    )
    return plan._replace(branches=tuple(moved))


def _contradictions(plan: Plan) -> Iterator[Problem]:
    yield from _repeated("Branch Map", ((row.task, row.line) for row in plan.branches))
    yield from _repeated("Stage Commits", ((row.name, row.line) for row in plan.stages))
    yield from _repeated("Dependency Analysis", ((row.task, row.line) for row in plan.analysis))
    yield from _name_clashes(plan)
    yield from _unknown(plan)
    yield from _one_sided(plan)


def _repeated(title: str, rows: Iterable[tuple[str, int]]) -> Iterator[Problem]:
    lines: dict[str, list[int]] = {}
    for name, line in rows:
        lines.setdefault(name, []).append(line)
    for name, numbers in lines.items():
        if len(numbers) > 1:
            text = f"{name} has {len(numbers)} rows under '## {title}'; expected one"
            yield problem_at(numbers[1], "duplicate-row", text, title, name, "one row")


def _name_clashes(plan: Plan) -> Iterator[Problem]:
    names = [row.name for row in plan.branches if row.name]
    names += [row.branch for row in plan.stages]
    for name, count in sorted(Counter(names).items()):
        if count > 1:
            message = f"{FILE}: branch '{name}' is given {count} times; expected one each"
            yield Problem("duplicate-branch", message, FILE, "Branch", name)
    safe = [name for name in names if not branch_names.unsafe(name)]
    for outer, inner in branch_names.nested(safe):
        message = f"{FILE}: branch '{inner}' cannot exist beside branch '{outer}'; rename one"
        yield Problem("nested-branch", message, FILE, "Branch", inner)


def _unknown(plan: Plan) -> Iterator[Problem]:
    known_tasks = {branch.task for branch in plan.branches}
    known = known_tasks | {stage.name for stage in plan.stages}
    for branch in plan.branches:
        if branch.base.kind == "task" and branch.base.name not in known:
            yield _nobody("unknown-base", branch.line, f"Base of {branch.task}", branch.base.name)
        elif branch.base.kind == "stage" and branch.base.name not in known:
            yield _no_stage(branch)
    for stage in plan.stages:
        for part in stage.parts:
            if part not in known:
                yield _nobody("unknown-part", stage.line, f"Composition of {stage.name}", part)
    for needs in plan.analysis:
        for name in needs.dependencies:
            if name not in known_tasks:
                what = f"Dependencies of {needs.task}"
                yield _nobody("unknown-dependency", needs.line, what, name)


def _nobody(code: Code, line: int, what: str, name: str) -> Problem:
    title = "Stage Commits" if name.startswith("stage-") else "Branch Map"
    text = f"{what} names {name}, which has no row under '## {title}'"
    return problem_at(line, code, text, what.partition(" ")[0], name, "a name that has a row")


def _no_stage(branch: Branch) -> Problem:
    name, expected = branch.base.name, "a row under '## Stage Commits'"
    text = f"{branch.task} starts from {name}, which has no row under '## Stage Commits'"
    return problem_at(branch.line, "stage-without-row", text, "Base", name, expected)


def _one_sided(plan: Plan) -> Iterator[Problem]:
    mapped = {branch.task: branch.line for branch in plan.branches if branch.task != BASELINE}
    analysed = {needs.task: needs.line for needs in plan.analysis if needs.task != BASELINE}
    for title, there, here in (
        ("Dependency Analysis", mapped, analysed),
        ("Branch Map", analysed, mapped),
    ):
        for task in sorted(there.keys() - here.keys(), key=task_order):
            text = f"{task} has no row under '## {title}'"
            yield problem_at(there[task], "row-missing", text, title, task, "a row")


# Files that two tasks both want to change


def overlaps(touched: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each path that several tasks touch. `src/*.py` and `src/` stand for many paths."""
    owners: dict[str, set[str]] = {}
    for name, paths in touched.items():
        for path in paths:
            owners.setdefault(path, set()).add(name)
    split = {path: path.split("/") for path in owners}
    patterns = [path for path in owners if "*" in path or path.endswith("/")]
    for pattern in patterns:
        for path in owners:
            if _covers(_pattern(pattern), split[path]):
                owners[path] |= owners[pattern]
    for path in sorted(owners):
        if len(owners[path]) > 1:
            yield path, tuple(name for name in touched if name in owners[path])


def covers(pattern: str, path: str) -> bool:
    """Whether a path of a task's list, which may be a pattern or a folder, stands for this one."""
    return _covers(_pattern(pattern), path.split("/"))


def _pattern(path: str) -> list[str]:
    """A folder stands for everything below it."""
    return (f"{path}**" if path.endswith("/") else path).split("/")


def _covers(pattern: list[str], path: list[str]) -> bool:
    """`*` stays within one part of a path, `**` stands for any number of parts."""
    reached = {0}  # how many parts of the path may have been used up
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            fits = _part(part).fullmatch
            reached = {at + 1 for at in reached if at < len(path) and fits(path[at])}
        if not reached:
            return False
    return len(path) in reached


@lru_cache(256)
def _part(pattern: str) -> re.Pattern[str]:
    """Each fixed piece is only tried at its first place, so no name makes this slow."""
    first, *rest = map(re.escape, re.split(r"\*+", pattern))
    if not rest:
        return re.compile(first)
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)
