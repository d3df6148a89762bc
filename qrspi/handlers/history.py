"""What a run was: its rounds, what its agents cost, and what its files and git's history prove."""

from __future__ import annotations

from qrspi.core.agents import spend
from qrspi.core.config import reader as configs
from qrspi.core.config.reader import Config
from qrspi.core.errors import attempt
from qrspi.core.history import past_rounds
from qrspi.core.history.past_rounds import Loop
from qrspi.core.history.statistics import History
from qrspi.core.proof import run_proof
from qrspi.core.proof.run_proof import RunProof
from qrspi.core.proof.vanished import Gap
from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import CONFIG_LIMIT, Tree
from qrspi.handlers.agents import ledger
from qrspi.world.git import repository, run_log
from qrspi.world.runs.committed_tree import CommittedTree


def loops(path: str) -> tuple[Loop, ...]:
    tree = Snapshot(CommittedTree(path))
    return past_rounds.loops(tree, _config(tree))


def of_run(path: str) -> History:
    disk = CommittedTree(path)
    tree = Snapshot(disk)
    config = _config(tree)
    read = [
        (phase, loop)
        for phase in (*past_rounds.earlier_phases(tree), tree)
        for loop in past_rounds.loops(phase, config)
    ]
    rounds = tuple(loop for _, loop in read)
    chronicles = tuple(past_rounds.chronicle(phase, loop) for phase, loop in read)
    return History(tree.name, rounds, chronicles, spend.total(ledger.read(disk).entries))


def _config(tree: Tree) -> Config:
    return configs.read(tree.read("config.md", CONFIG_LIMIT))


def prove_among(path: str) -> RunProof:
    """For a look at many runs: one that fails hides no other."""
    found = attempt(lambda: prove(path))
    if isinstance(found, RunProof):
        return found
    gap = Gap("", 0, "run that can be looked through", found.message, "config.md")
    return RunProof(path.rpartition("/")[2], (), (gap,), (), ())


def prove(path: str) -> RunProof:
    repo = repository.find(path)
    return run_proof.prove(Snapshot(CommittedTree(path)), run_log.of_run(repo) if repo else None)
