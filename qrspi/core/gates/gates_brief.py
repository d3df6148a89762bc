"""The gates of a run in a few lines, for the page that `brief` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from qrspi.core.artifacts import task_file
from qrspi.core.config import reader as configs
from qrspi.core.config.blocks import Gates
from qrspi.core.gates.audit import audit_report
from qrspi.core.gates.audit.audit_report import Report
from qrspi.core.gates.checkpoints import checkpoint_board
from qrspi.core.gates.checkpoints.checkpoint_board import Board
from qrspi.core.gates.checkpoints.checkpoint_tables import FILE
from qrspi.core.gates.quality import quality_gate, quality_records
from qrspi.core.tree import CONFIG_LIMIT, Tree


def lines(tree: Tree, gates: Gates, tasks: Iterable[str]) -> tuple[str, ...]:
    told = [*_audit(tree)] if gates.audit else []
    told += [*_quality(tree, tuple(tasks))] if gates.quality != "off" else []
    told += [*_checkpoints(tree)] if gates.checkpoints else []
    return tuple(told)


def of_run(tree: Tree) -> tuple[str, ...]:
    """The same, for a caller that has not read the run's config.md."""
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    tasks = task_file.read_keys(tree)
    return lines(tree, config.gates, tasks) if config.gates and tasks else ()


def _audit(tree: Tree) -> Iterator[str]:
    report = audit_report.read(tree)
    if not isinstance(report, Report):
        yield "the plan is not audited"
        return
    verb = {"approved": "approves", "concerns": "has concerns about", "rejected": "rejects"}
    text = "" if report.inputs == audit_report.inputs_sha256(tree) else ", in an earlier text"
    yield f"the audit {verb[report.verdict]} the plan{text}"


def _quality(tree: Tree, tasks: tuple[str, ...]) -> Iterator[str]:
    judged = [key for key in tasks if not quality_gate.is_exempt(key)]
    owed = quality_gate.debts(tree, judged)
    yield f"{len(judged) - len(owed)} of {len(judged)} tasks have a PASS for their text"
    yield from (standing.because for standing in owed)
    for known in quality_records.read(tree).by_task.values():
        for record in known:
            if record.event != "verdict":
                yield f"{record.task}: {record.event} by {record.who} on {record.when[:10]}"


def _checkpoints(tree: Tree) -> Iterator[str]:
    board = checkpoint_board.read(tree)
    if not isinstance(board, Board):
        yield board.message if board else f"{FILE} is not made yet"
        return
    states = Counter(row.state for row in board.rows.values())
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    yield f"tasks in {FILE}: {counted or 'none'}"
    yield from (f"{task}: reviewed at worst {score} of 9" for task, score in board.worst.items())
