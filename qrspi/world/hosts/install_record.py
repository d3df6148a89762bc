"""Where the record of our changes to the files of hosts is kept."""

from __future__ import annotations

import os
from contextlib import suppress

from qrspi.core.installing import install_plan
from qrspi.core.installing.install_plan import Record
from qrspi.core.tree import Fault
from qrspi.world.files import atomic_write, lock
from qrspi.world.files.run_tree import DiskTree, opened

NAME = "install.json"


def of_project(project: str) -> str:
    return f"{project}/docs/qrspi/.qrspi"


def read(folder: str) -> Record:
    data = DiskTree(folder).read(NAME)
    return {} if isinstance(data, Fault) else install_plan.read_record(data)


def write(folder: str, record: Record) -> None:
    path = f"{folder}/{NAME}"
    with atomic_write.reporting_errors(path):
        if record:
            os.makedirs(folder, exist_ok=True)
            with opened(folder) as directory:
                lock.ignore_in_git(directory)
                atomic_write.replace(directory, NAME, install_plan.record_text(record))
            return
    with suppress(FileNotFoundError):
        os.unlink(path)
    _leave(folder)


def _leave(folder: str) -> None:
    with suppress(OSError):
        if os.listdir(folder) == [".gitignore"]:
            os.unlink(f"{folder}/.gitignore")
        for _ in range(3):  # .qrspi, docs/qrspi, docs
            os.rmdir(folder)
            folder = os.path.dirname(folder)
