"""Which tasks may be handed over: those with a PASS on record for their present text. The rubric
also looks at the project, so it is asked where tasks are checked, approved and started."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from qrspi.core.artifacts import task_file
from qrspi.core.config.reader import Config
from qrspi.core.filenames import dispatch_folder, prompt_file
from qrspi.core.gates.quality import quality_records, task_spec, verdict_line
from qrspi.core.gates.quality.quality_records import QualityRecords
from qrspi.core.gates.quality.task_spec import NO_SECTIONS, Spec
from qrspi.core.hints import Literal
from qrspi.core.model import Ask, Next, Problem
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records import quality_blocks, task_records
from qrspi.core.text.shortened import few
from qrspi.core.tree import Fault, Tree, entries

SPEC_LIMIT = 256 * 1024
STEP = "quality"  # the name under which reviewers' dispatches and costs are kept
Debt = Literal["absent", "stale", "not-pass"]


class TaskVerdict(NamedTuple):
    task: str
    verdict: str
    debt: Debt | None  # None: nothing is owed
    because: str
    let_through: bool = False  # a person accepted this text
    has_text: bool = True  # something that a reviewer could judge

    @property
    def passes(self) -> bool:
        return self.debt is None or self.let_through

    @property
    def needs_reviewer(self) -> bool:
        return self.has_text and not self.passes and self.debt in ("absent", "stale")


def is_on(config: Config) -> bool:
    return config.gates is not None and config.gates.quality != "off"


def is_exempt(key: str) -> bool:
    """The engine writes repairs, and nobody is asked about them."""
    return "/" in key or task_file.is_baseline(key)


def read_spec(tree: Tree, key: str) -> Spec | Problem:
    path = task_file.task_path(key)
    content = tree.read(path, SPEC_LIMIT)
    if isinstance(content, Fault) and content.kind == "absent":
        text = f"{path} does not exist"
        return Problem("task-unreadable", text, path, expected="a task file")
    return task_spec.read(content, key)


class QualityGate:
    """Reads the records of a run once for all tasks."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def records(self) -> QualityRecords:
        return quality_records.read(self._tree)

    def standing(self, key: str) -> TaskVerdict:
        spec = read_spec(self._tree, key)
        if isinstance(spec, Problem):
            return TaskVerdict(key, "UNREVIEWED", "absent", spec.message, has_text=False)
        standing = _judged(spec, self.records)
        through = standing.debt is not None and self.records.let_through(key, spec.hash)
        return standing._replace(let_through=through)


def _judged(spec: Spec, records: QualityRecords) -> TaskVerdict:
    key = spec.key
    if spec.skip_tag:
        return TaskVerdict(key, "PASS", None, f"{key} is tagged {spec.skip_tag}")
    if spec.is_empty:
        return TaskVerdict(key, "UNREVIEWED", "absent", f"{key}: {NO_SECTIONS}", has_text=False)
    line = verdict_line.read(spec.line)
    if line is None:
        why = "nobody has reviewed it" if not spec.line else "its verdict cannot be read"
        return TaskVerdict(key, "UNREVIEWED", "absent", f"{key}: {why}")
    if line.verdict != "PASS" and (line.hash == spec.hash or line.suppressed_until):
        failing = f" ({', '.join(line.failing)})" if line.failing else ""
        return TaskVerdict(key, line.verdict, "not-pass", f"{key}: {line.verdict}{failing}")
    if line.hash != spec.hash:
        why = f"its text has changed since its review of {line.when[:10]}"
        return TaskVerdict(key, "UNREVIEWED", "stale", f"{key}: {why}")
    if not records.has(key, spec.line):
        why = f"it claims a PASS that {quality_blocks.FILE} does not have"
        return TaskVerdict(key, "UNREVIEWED", "absent", f"{key}: {why}")
    return TaskVerdict(key, "PASS", None, f"{key}: PASS since {line.when}")


def debts(tree: Tree, keys: Iterable[str]) -> tuple[TaskVerdict, ...]:
    """The tasks without a PASS, including those that a person has let through."""
    gate = QualityGate(tree)
    standings = (gate.standing(key) for key in keys if not is_exempt(key))
    return tuple(standing for standing in standings if standing.debt)


_SHOWN = 3  # tasks that are named one by one


def before_approval(tree: Tree, keys: Iterable[str], following: Next) -> Next:
    """Missing verdicts are told at the gate of the plan, and do not block it."""
    owed = debts(tree, keys)
    if not owed:
        return following
    count = "1 task has" if len(owed) == 1 else f"{len(owed)} tasks have"
    judge = f"{count} no PASS yet: `qrspi quality batch {tree.name}` has them judged first."
    named = [standing.because for standing in owed[:_SHOWN]]
    more = (f"{len(owed) - _SHOWN} more tasks have no PASS",) if len(owed) > _SHOWN else ()
    summary = f"{following.summary} {judge}"
    return following._replace(summary=summary, because=(*following.because, *named, *more))


def asked(key: str) -> Ask:
    """Dispatches of these reviewers are kept apart from those of rounds."""
    return Ask("quality", STEP, target=key)


def waiting_tasks(tree: Tree, keys: Iterable[str]) -> tuple[str, ...]:
    """Tasks whose reviewer has a prompt, and that nobody has judged yet."""
    there = {entry.name for entry in entries(tree, dispatch_folder(asked("")))}
    written = [key for key in keys if f"{key}.md" in there]
    gate = QualityGate(tree)
    owed = (key for key in written if gate.standing(key).debt)
    return tuple(key for key in owed if isinstance(tree.head(task_records.start_file(key)), Fault))


def waiting(tree: Tree, keys: Iterable[str]) -> tuple[Problem, ...]:
    owed = waiting_tasks(tree, keys)
    if not owed:
        return ()
    first, run = owed[0], tree.name
    text = (
        f"the prompt of a quality reviewer waits for {few(owed)}: `qrspi prompt {run} {first}` "
        f"prints it, `qrspi quality check {run} {first} --reply FILE` takes the answer in"
    )
    return (Problem("prompt-waits", text, prompt_file(asked(first))),)
