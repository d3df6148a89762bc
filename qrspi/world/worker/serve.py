"""A worker from its start to its end: everything that can be wrong is said before Celery starts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping

from qrspi.core.errors import Halt, Refusal, accepted
from qrspi.core.fleet import worker_file
from qrspi.core.fleet.worker_file import FILE, WorkerFile
from qrspi.core.model import Problem
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.files import own_files
from qrspi.world.fleet import connection
from qrspi.world.worker.job_calls import JobCalls, StoredResults
from qrspi.world.worker.result_line import ResultLine

Ready = Callable[[str, tuple[str, ...]], None]


def serve(concurrency: int, ready: Ready, log: Callable[[str], None]) -> int:
    allowed = _settings(os.environ)
    longest = max(one.timeout for one in allowed.vendors.values())
    where = connection.address(os.environ, longest)
    _celery()
    from qrspi.world.worker import celery_worker

    name = f"{os.uname().nodename}-{os.getpid()}"
    state = own_files.folder(os.environ, "XDG_STATE_HOME", "~/.local/state")
    stored = StoredResults(f"{state}/worker")
    stored.forget_old()
    providers = (one.means.provider for one in allowed.vendors.values())
    keys = tuple(provider.api_key_env for provider in providers if provider)
    with DispatchContext(key_names=keys) as wire:
        line = ResultLine(where, wire.stop)
        line.declare(tuple(allowed.vendors))
        calls = JobCalls(name, allowed, wire, line, stored, log)

        def end_calls() -> None:
            wire.stop.set()
            wire.children.end_all()

        setup = celery_worker.Setup(
            name, where, tuple(allowed.vendors), concurrency, calls, log, end_calls
        )
        ready(name, tuple(allowed.vendors))
        return celery_worker.run(setup)


def _celery() -> None:
    # Celery warns of root in a dozen lines; the command says it in one.
    warnings.filterwarnings("ignore", module="celery")
    try:
        import celery  # noqa: F401
    except ModuleNotFoundError:
        hint = "pip install 'qrspi[celery]'"
        text = f"celery is not installed, which a worker is made of: {hint}"
        raise Halt(Problem("not-installed", text, hint=hint)) from None


def _settings(environment: Mapping[str, str]) -> WorkerFile:
    """Absent or bad: there is nothing that a worker may do, so it does not start."""
    file = f"{own_files.settings_folder(environment)}/{FILE}"
    document = accepted(own_files.toml(file, "bad-worker-file"))
    if document is None:
        text = (
            f"{file} is not there: it lists the vendors and models that this worker serves, and by "
            "which programs and addresses"
        )
        expected, hint = "[commands.VENDOR] or [providers.VENDOR]", "qrspi worker --print-config"
        raise Refusal(Problem("bad-worker-file", text, file, expected=expected, hint=hint))
    return accepted(worker_file.read(document, file))
