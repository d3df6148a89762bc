"""The text of a pull request: what the run was for, what was done, and where to read more."""

from __future__ import annotations

from collections.abc import Iterable

from qrspi.core.artifacts import task_file as tasks
from qrspi.core.code_steps import gate_records as gaterecords
from qrspi.core.code_steps.task_state import TaskState
from qrspi.core.code_steps.test_results import Results
from qrspi.core.filenames import slug_of
from qrspi.core.pipeline import STEP
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault

FILE = "pull-request.md"


def title(facts: Facts) -> str:
    """The heading of goals.md when it says more than that these are the goals."""
    data = facts.tree.read(STEP["goals"].artifact)
    read = Fault("absent") if isinstance(data, Fault) else tasks.read(data, "goals")
    said = read.title if isinstance(read, tasks.Task) else ""
    words = said.removeprefix("Goals").lstrip(" :–—-")
    name = words or slug_of(facts.run).replace("-", " ").capitalize()
    return f"{name} (phase {facts.phase})" if facts.phase > 1 else name


def block(facts: Facts, done: Iterable[TaskState], results: Results | None) -> str:
    rows = [(task.key, task.item.title, task.state) for task in done]
    listed = gaterecords.table(("Task", "What", "State"), rows) if rows else "No tasks."
    sentence = results.sentence if results else "The tests were run by hand"
    links = "\n".join(
        f"- [{step}](docs/qrspi/{facts.run}/{STEP[step].artifact})"
        for step in facts.route
        if facts.statuses[step] not in ("missing", "invalid")
    )
    return f"## Summary\n\n{listed}\n\n{sentence}.\n\n## Read more\n\n{links}"
