"""The tasks that code steps work on: those of the plan, and repairs that later steps asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qrspi.core import filenames
from qrspi.core.artifacts import dependency_order, parallelization, task_file
from qrspi.core.artifacts.branch_map import FILE, Base, Branch, Needs, Plan, Stage
from qrspi.core.artifacts.task_file import Task, task_path
from qrspi.core.code_steps import baseline
from qrspi.core.filenames import FixRound, task_order
from qrspi.core.model import Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import is_full, subject
from qrspi.core.records import task_records
from qrspi.core.records.task_records import Start
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault, Tree, entries

FEATURE = "feature branch tip"


class Item(NamedTuple):
    key: str
    file: str  # run-relative
    title: str = ""
    wave: int = 1
    branch: str = ""  # as the plan names it; '' for the usual name
    base: Base = Base("feature")
    needs: tuple[str, ...] = ()  # the tasks that must have a commit before it starts

    @property
    def is_repair(self) -> bool:
        return "/" in self.key

    @property
    def base_words(self) -> str:
        match self.base.kind:
            case "feature":
                return FEATURE
            case "task":
                return f"{self.base.name} tip"
            case "stage":
                return self.base.name


class Batch(NamedTuple):
    items: tuple[Item, ...] = ()  # wave by wave
    plan: Plan = Plan((), (), ())
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def read(facts: Facts) -> Batch:
    """The phase's tasks. A problem of one task is a problem of the batch."""
    known, unreadable = task_file.read_all(facts.tree)
    batch = _mapped(facts, known) if is_full(facts.route) else _unmapped(facts, known)
    keys = {item.key for item in batch.items}
    bad = tuple(problem for problem in unreadable if problem.file.rpartition("/")[2][:-3] in keys)
    return batch._replace(problems=batch.problems + bad)


def drawn_up(facts: Facts) -> Batch:
    """The same, and the tasks that are drafts, as if they were approved: to be listed."""
    if is_full(facts.route) and FILE in facts.names:
        mapped = read(facts)
        # A draft may still be the map of the phase before.
        if facts.statuses.get("parallelize") == "approved" or not mapped.problems:
            return mapped
    known, unreadable = task_file.read_all(facts.tree)
    here = {key: task for key, task in known.items() if task.phase in (None, facts.phase)}
    approved = {key: one._replace(status="approved") for key, one in here.items()}
    batch = _unmapped(facts, approved)
    return batch._replace(problems=batch.problems + unreadable)


def _mapped(facts: Facts, known: Mapping[str, Task]) -> Batch:
    data = facts.tree.read(FILE)
    if isinstance(data, Fault):
        text = f"{FILE} cannot be read: {data.reason}"
        return Batch(problems=(Problem("unreadable", text, FILE),))
    plan = parallelization.read(data)
    if not isinstance(plan, Plan):
        return Batch(problems=plan)
    items = _items(plan, parallelization.batch(plan, known, facts.phase), known)
    problems = parallelization.without_file(plan, task_file.read_keys(facts.tree))
    return Batch(items, plan, problems, parallelization.warnings(plan, known))


def _items(plan: Plan, keys: Iterable[str], known: Mapping[str, Task]) -> tuple[Item, ...]:
    wanted = set(keys)
    waves = [[key for key in wave if key in wanted] for wave in parallelization.waves(plan)]
    analysis = {needs.task: needs.dependencies for needs in plan.analysis}
    return tuple(
        _item(plan, key, number, known.get(key), (*analysis.get(key, ()),), wanted)
        for number, wave in enumerate(filter(None, waves), start=1)
        for key in wave
    )


def _item(
    plan: Plan, key: str, wave: int, task: Task | None, waits: tuple[str, ...], wanted: set[str]
) -> Item:
    branch = plan.branch(key)
    assert branch is not None
    needs = dict.fromkeys((*parallelization.parents(plan, key), *waits))
    return Item(
        key=key,
        file=task_path(key),
        title=task.title if task else "",
        wave=wave,
        branch=branch.name,
        base=branch.base,
        needs=tuple(need for need in needs if need in wanted),
    )


def _unmapped(facts: Facts, known: Mapping[str, Task]) -> Batch:
    """Without a parallelization: every approved task, each from the tips it depends on."""
    keys = task_file.quick_batch(known.values())
    repair = parallelization.BASELINE
    first = known.get(repair)
    if first and first.status == "approved" and baseline.is_repaired(facts.tree):
        keys = (repair, *keys)
    needs = {key: tuple(dict.fromkeys(known[key].dependencies)) for key in keys}
    unknown = [(key, name) for key in keys for name in needs[key] if name not in needs]
    if unknown:
        return Batch(problems=tuple(_unknown(key, name) for key, name in unknown))
    if circles := dependency_order.cycles(needs):
        return Batch(problems=tuple(map(_circle, circles)))
    plan = _plan(needs, repair in keys)
    return Batch(_items(plan, keys, known), plan)


def _unknown(key: str, name: str) -> Problem:
    file, expected = task_path(key), "the name of an approved task"
    text = f"{file}: dependencies name {name}; expected {expected}"
    return Problem("unknown-dependency", text, file, "dependencies", name, expected)


def _circle(path: tuple[str, ...]) -> Problem:
    shown = " → ".join((*path, path[0]))
    text = f"{task_path(path[0])}: {path[0]} waits for itself: {shown}"
    return Problem("cycle", text, task_path(path[0]), "dependencies", shown)


def _plan(needs: Mapping[str, tuple[str, ...]], repaired: bool) -> Plan:
    """The plan that a person would have written if the route had a step parallelize."""
    first = Base("task", parallelization.BASELINE) if repaired else Base("feature")
    branches, stages = [], []
    for key in sorted(needs, key=task_order):
        direct = _direct(key, needs)
        base = first if key != parallelization.BASELINE else Base("feature")
        if len(direct) == 1:
            base = Base("task", direct[0])
        elif direct:
            base = Base("stage", f"stage-before-{key}")
            stages.append(Stage(base.name, "", direct))
        branches.append(Branch(key, "", base))
    analysis = tuple(Needs(key, wanted, ()) for key, wanted in needs.items())
    return Plan(tuple(branches), tuple(stages), analysis)


def _direct(key: str, needs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    inside = {name for need in needs[key] for name in dependency_order.behind(need, needs)}
    return tuple(sorted(set(needs[key]) - inside, key=task_order))


_ORDER = ("integration", "ci", "test")


def fix_rounds(tree: Tree) -> tuple[FixRound, ...]:
    """The folders of repairs that are not empty, oldest first within a kind."""
    folders = (entry.name for entry in entries(tree, "fixes") if entry.kind == "dir")
    rounds = [fixes for name in folders if (fixes := filenames.fix_round(name))]
    rounds.sort(key=lambda fixes: (_ORDER.index(fixes.kind), fixes.number))
    return tuple(fixes for fixes in rounds if task_file.fix_batch(tree, fixes))


def next_fix_round(tree: Tree, kind: str) -> FixRound:
    numbers = [one.number for one in fix_rounds(tree) if one.kind == kind]
    return FixRound(kind, max(numbers, default=0) + 1)


def repairs(tree: Tree, rounds: Iterable[FixRound] | None = None) -> Batch:
    items, problems = [], []
    for fixes in fix_rounds(tree) if rounds is None else rounds:
        for file in task_file.fix_batch(tree, fixes):
            key = file.removeprefix("fixes/").removesuffix(".md")
            read = task_file.read(tree.read(file), key)
            if subject(key) is None:
                problems.append(_bad_name(file))
            elif isinstance(read, Problem):
                problems.append(read._replace(file=file))
            else:
                items.append(Item(key, file, read.title))
    return Batch(tuple(items), problems=tuple(problems))


def _bad_name(file: str) -> Problem:
    expected = "letters, digits, '.', '-' and '_', a letter or digit first"
    text = f"{file}: a task cannot be named like this; expected {expected}"
    return Problem("bad-task-name", text, file, found=file.rpartition("/")[2], expected=expected)


class MovedBase(NamedTuple):
    key: str
    then: str
    now: str

    @property
    def words(self) -> str:
        return f"{self.key} was at {self.then[:12]} and is at {self.now[:12]} now"


def moved_bases(item: Item, start: Start, reviewed: Mapping[str, str]) -> tuple[MovedBase, ...]:
    known = _built_on(item, start)
    moves = (MovedBase(key, then, reviewed.get(key, then)) for key, then in known.items())
    return tuple(one for one in moves if one.now != one.then)


def is_told_of_moves(start: Start, changes: tuple[MovedBase, ...]) -> bool:
    """Whether it is on record that the task keeps the commits it began with."""
    left_out = task_records.commits_of(start.stays_without)
    return all(left_out.get(one.key) == one.now for one in changes)


def older_base(key: str, start: Start, changes: tuple[MovedBase, ...]) -> Problem:
    listed = "; ".join(one.words for one in changes)
    where = f"{key} has work of its own in {start.worktree}"
    text = f"{where} and stays on what it began with: {listed}"
    return Problem("older-base", text, task_records.start_file(key), "built_on")


def _built_on(item: Item, start: Start) -> dict[str, str]:
    """Older records say it for a single task only."""
    known = task_records.commits_of(start.built_on)
    if known or item.base.kind != "task":
        return known
    return {item.base.name: start.base_commit}
