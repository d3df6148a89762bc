"""A worker's own file of what it may do, and where it keeps what it has paid for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from qrspi.core.errors import Refusal, accepted
from qrspi.core.fleet import worker_file
from qrspi.core.fleet.worker_file import FILE, WorkerFile
from qrspi.core.model import Problem
from qrspi.world.files import own_files


def path(environment: Mapping[str, str]) -> str:
    return f"{own_files.settings_folder(environment)}/{FILE}"


def read(environment: Mapping[str, str]) -> WorkerFile:
    """Absent or bad: there is nothing that a worker may do, so it does not start."""
    file = path(environment)
    document = accepted(own_files.toml(file, "bad-worker-file"))
    if document is None:
        raise Refusal(_absent(file))
    return accepted(worker_file.read(document, file))


def _absent(file: str) -> Problem:
    return Problem(
        "bad-worker-file",
        f"{file} is not there: it lists the vendors and models that this worker serves, and by "
        "which programs and addresses",
        file=file,
        expected="[commands.VENDOR] or [providers.VENDOR]",
        hint="qrspi worker --print-config",
    )


def results_folder(environment: Mapping[str, str]) -> str:
    said = environment.get("XDG_STATE_HOME", "")
    home = said if said.startswith("/") else os.path.expanduser("~/.local/state")
    return f"{home.rstrip('/')}/qrspi/worker"
