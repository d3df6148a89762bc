"""Derive a run again from its files and git's history. Nothing is repaired here."""

from __future__ import annotations

from qrspi.core.proof import run_proof
from qrspi.core.proof.run_proof import RunProof
from qrspi.core.snapshot import Snapshot
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.git import repository, run_log


def prove(path: str) -> RunProof:
    repo = repository.find(path)
    return run_proof.prove(Snapshot(DiskTree(path)), run_log.of_run(repo) if repo else None)
