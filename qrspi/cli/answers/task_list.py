"""What `task list` says: every task of the phase by wave, and every repair."""

from __future__ import annotations

from collections.abc import Sequence

from qrspi.cli.session import Session
from qrspi.core.code_steps import batch, held_tasks, implementers, integrate, task_state
from qrspi.core.derivation.derive import survey
from qrspi.core.errors import refused
from qrspi.render import problems
from qrspi.render import task_table as pages
from qrspi.world.runs.committed_tree import CommittedTree


def show(session: Session, run: str | None = None) -> None:
    found = session.run(run)
    tree = CommittedTree(found.path)
    seen = survey(tree)
    if (facts := seen.facts) is None:
        raise refused(*seen.state.errors)
    planned, fixes = batch.drawn_up(facts), batch.repairs(tree)
    states = held_tasks.listed(facts, (*planned.items, *fixes.items))
    tasks = tuple(implementers.recalled(facts, task) for task in states)
    left = {one.key for one in integrate.pending(tree, tasks)}
    merged = frozenset(one.key for one in tasks if one.key not in left)
    wrong = (*planned.problems, *fixes.problems)
    document = {
        "schema": "qrspi/task-list/v1",
        "run": found.name,
        "phase": facts.phase,
        "tasks": [pages.document(found.name, task, merged) for task in tasks],
        "waves": _waves(tasks),
        "problems": problems.violations(wrong),
        "warnings": problems.warnings(planned.warnings),
    }
    lines = [f"{found.name}, phase {facts.phase}", "", *pages.lines(tasks, merged, session.width)]
    lines += pages.seen_lines(tasks)
    lines += problems.marked("error", wrong) + problems.marked("warning", planned.warnings)
    session.answer(document, lines)


def _waves(tasks: Sequence[task_state.TaskState]) -> list[list[str]]:
    planned = [task for task in tasks if not task.item.is_repair]
    numbers = sorted({task.item.wave for task in planned})
    return [[task.key for task in planned if task.item.wave == number] for number in numbers]
