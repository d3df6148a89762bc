"""The text of the pull request: what was done, how it was tested, what is open."""

from __future__ import annotations

from qrspi.core.artifacts import task_file
from qrspi.core.code_steps import gate_records, integrate, test_results, test_standing
from qrspi.core.filenames import slug_of
from qrspi.core.model import StateOfTests
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.pipeline import STEP
from qrspi.core.rounds.loop import Loop
from qrspi.core.steps.facts import Facts
from qrspi.core.tree import Fault

FILE = "pull-request.md"


class Shipped(NamedTuple):
    """A person's decision to ship although tests or findings speak against it."""

    who: str
    when: str
    reason: str


def title(facts: Facts) -> str:
    """The heading of goals.md when it says more than that these are the goals."""
    data = facts.tree.read(STEP["goals"].artifact)
    read = Fault("absent") if isinstance(data, Fault) else task_file.read(data, "goals")
    said = read.title if isinstance(read, task_file.Task) else ""
    words = said.removeprefix("Goals").lstrip(" :–—-")
    name = words or slug_of(facts.run).replace("-", " ").capitalize()
    return f"{name} (phase {facts.phase})" if facts.phase > 1 else name


def text(facts: Facts, loop: Loop | None, shipped: Shipped | None = None) -> str:
    results = test_results.newest(facts.tree)
    tests = test_standing.state(facts, results)
    parts = (
        f"## Summary\n\n{_tasks(facts)}",
        f"## Tests\n\n{_tests(facts, tests)}",
        _findings(facts, loop),
        _decision(shipped) if shipped else "",
        f"## Read more\n\n{_links(facts)}",
    )
    return "\n\n".join(part for part in parts if part)


def _tasks(facts: Facts) -> str:
    found = integrate.work(facts).in_order
    rows = [(task.key, task.item.title, task.state) for task in found]
    return gate_records.table(("Task", "What", "State"), rows) if rows else "No tasks."


def _tests(facts: Facts, tests: StateOfTests) -> str:
    results = test_results.newest(facts.tree)
    page = f" ({_link(facts, test_results.results_file(results.number))})" if results else ""
    words = gate_records.quoted(results.words) if results else ""
    said = f"State: {tests.state}\n\n{tests.sentence}{page}."
    return f"{said}\n\n{words}" if words else said


def _findings(facts: Facts, loop: Loop | None) -> str:
    listed = "\n".join(f"- {_link(facts, path)}" for path in test_standing.open_findings(loop))
    return f"## Findings that are not settled\n\n{listed}" if listed else ""


def _decision(shipped: Shipped) -> str:
    who = test_results.person(shipped.who)
    reason = gate_records.quoted(shipped.reason)
    return f"## Shipped all the same\n\nBy {who}, {shipped.when}:\n\n{reason}"


def _links(facts: Facts) -> str:
    return "\n".join(
        f"- {_link(facts, STEP[step].artifact, step)}"
        for step in facts.route
        if facts.statuses[step] not in ("missing", "invalid")
    )


def _link(facts: Facts, path: str, name: str = "") -> str:
    return f"[{name or path}](docs/qrspi/{facts.run}/{path})"
