"""The project that a plan is about, as its paths see it."""

from __future__ import annotations

from qrspi.core.snapshot import Snapshot
from qrspi.core.tree import Tree
from qrspi.handlers.changes import code_repository
from qrspi.handlers.jobs.job import Job
from qrspi.world.files.run_tree import DiskTree


def root(job: Job) -> str:
    """`code_path` in config.md, else the folder that docs/qrspi is in."""
    return code_repository.code_folder(job) or job.project


def of(job: Job) -> Tree:
    """Each folder is listed once, however many tasks name it."""
    return Snapshot(DiskTree(root(job)))
