"""What `spend` says: the ledger in groups, then the sum, then what budgets leave."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.handlers.agents import ledger
from qrspi.render import agents, problems
from qrspi.world.files.run_tree import DiskTree


def show(session: Session, run: str | None = None) -> None:
    found = session.run(run)
    tree = DiskTree(found.path)
    known = ledger.known_or_halt(tree)
    session.note(*problems.marked("warning", known.problems))
    spent = ledger.spending(tree, known)
    lines = agents.spending_lines(spent, session.width)
    session.answer(agents.spending_document(found.name, spent), lines)
