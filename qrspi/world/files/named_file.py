"""A file that a person named, anywhere."""

from __future__ import annotations

import os

from qrspi.world.files import atomic_write
from qrspi.world.files.run_tree import opened


def write(path: str, data: bytes) -> None:
    folder, name = os.path.split(os.path.abspath(path))
    with atomic_write.reporting_errors(path), opened(folder) as directory:
        atomic_write.replace(directory, name, data)
