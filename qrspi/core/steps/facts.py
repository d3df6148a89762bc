"""What a run's files say before anything is decided: statuses, records, prerequisites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from qrspi.core.config.reader import Config
from qrspi.core.filenames import phase_number, task_file_key
from qrspi.core.model import Next, Problem, Status
from qrspi.core.pipeline import MARKER, STEP, is_full, needs_tasks, prerequisites
from qrspi.core.records import approvals
from qrspi.core.records.approvals import Record
from qrspi.core.tree import Entry, Fault, Tree
from qrspi.core.yaml import frontmatter

if TYPE_CHECKING:
    from qrspi.core.rounds.loop import Loop


class Facts(NamedTuple):
    """What was read before a step's own question is asked."""

    tree: Tree
    config: Config
    route: tuple[str, ...]
    statuses: Mapping[str, Status]
    tasks: Mapping[str, Status]  # by task key
    records: tuple[Record, ...]
    names: frozenset[str]  # what the run directory holds
    phase: int
    step: str = ""

    @property
    def base(self) -> int:
        return approvals.loop_base(self.records, self.step)

    @property
    def run(self) -> str:
        return self.tree.name


class Answer(NamedTuple):
    """The current step's next action, and the loop it was derived from."""

    next: Next
    loop: Loop | None = None


def gather(tree: Tree, config: Config, route: tuple[str, ...]) -> tuple[Facts, tuple[Problem, ...]]:
    """Statuses of every artifact of the route, with what was odd about them."""
    listing = tree.entries("")
    names = frozenset(() if isinstance(listing, Fault) else (entry.name for entry in listing))
    statuses: dict[str, Status] = {}
    warnings: list[Problem] = []
    for step in route:
        statuses[step], problem = artifact_status(tree, step, names)
        if problem:
            warnings.append(problem)
    tasks = task_statuses(tree) if "tasks" in names else {}
    records = approvals.read(tree.read(approvals.FILE)) if approvals.FILE in names else ()
    phase = _phase(tree) if "phases" in names else 1
    return Facts(tree, config, route, statuses, tasks, records, names, phase), tuple(warnings)


def artifact_status(
    tree: Tree, step: str, names: frozenset[str] | None = None
) -> tuple[Status, Problem | None]:
    artifact = STEP[step].artifact
    if names is not None and artifact.partition("/")[0] not in names:
        return "missing", None
    return frontmatter.status(tree.head(artifact), artifact)


def task_statuses(tree: Tree) -> dict[str, Status]:
    found: dict[str, Status] = {}
    for entry in entries(tree, "tasks"):
        if entry.kind == "file" and (key := task_file_key(entry.name)):
            found[key] = frontmatter.status(tree.head(f"tasks/{entry.name}"), entry.name)[0]
    return found


def entries(tree: Tree, path: str) -> tuple[Entry, ...]:
    found = tree.entries(path)
    return () if isinstance(found, Fault) else found


def _phase(tree: Tree) -> int:
    done = [phase_number(entry.name) for entry in entries(tree, "phases") if entry.kind == "dir"]
    return len([number for number in done if number]) + 1


def current_step(facts: Facts) -> str | None:
    """The first step of the route that is not approved; None when the run is complete."""
    open_steps = [step for step in facts.route if facts.statuses[step] != "approved"]
    if MARKER in facts.names and all(facts.statuses[step] == "replan-draft" for step in open_steps):
        return "replan"
    return open_steps[0] if open_steps else None


def stale_approvals(facts: Facts) -> tuple[Problem, ...]:
    """Approved artifacts that stand behind the step the run is at."""
    if facts.step not in facts.route:
        return ()
    later = facts.route[facts.route.index(facts.step) + 1 :]
    return tuple(
        Problem(
            "stale-approval",
            f"{STEP[step].artifact} is approved, but {STEP[facts.step].artifact} before it is not",
            file=STEP[step].artifact,
        )
        for step in later
        if facts.statuses[step] == "approved"
    )


def unmet(facts: Facts, step: str) -> tuple[str, ...]:
    """The artifacts that must be approved before `step` is worked on, and are not."""
    missing = [
        STEP[need].artifact
        for need in prerequisites(step, facts.route)
        if status_of(facts, need) != "approved"
    ]
    if step == "replan" and MARKER not in facts.names:
        missing.append(MARKER)
    if needs_tasks(step):
        missing += _unmet_tasks(facts, step)
    return tuple(missing)


def status_of(facts: Facts, step: str) -> Status:
    known = facts.statuses.get(step)
    return known or artifact_status(facts.tree, step, facts.names)[0]


def _unmet_tasks(facts: Facts, step: str) -> list[str]:
    approved = [key for key, status in facts.tasks.items() if status == "approved"]
    if not approved:
        return ["an approved tasks/task-NN.md"]
    if step == "implement" and not is_full(facts.route):
        return [f"tasks/{key}.md" for key, status in facts.tasks.items() if status != "approved"]
    return []
