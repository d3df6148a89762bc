"""A broker that works apart from us: launch, then await; the answer is left in a file.

    codex-broker launch --model M --base-url URL --api-key-env NAME    prompt on stdin, prints an id
    codex-broker await ID --output-file PATH                           returns when PATH is whole

The program is $QRSPI_BROKER, else `codex-broker` on the PATH. It takes the key from the
environment itself, by the name it is given. A job outlives the command that launched it; the same
id is awaited again instead of launching twice.
"""

from __future__ import annotations

import re

from qrspi.core.config.vendors import TIMEOUT
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.agents import command_line
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.machine import hosts

LAUNCH_TIMEOUT = 60.0
_ID = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\n?")


def send(request: Request, wire: DispatchContext) -> Answer:
    job = request.broker_job or _launch(request, wire)
    if isinstance(job, Answer):
        return job
    awaited = command_line.run(
        request._replace(prompt=b""),
        wire,
        [_program(wire), "await", job, "--output-file", request.result_file],
        TIMEOUT,
    )
    if awaited.problem:
        return awaited._replace(data=b"")
    return _result(request, awaited.seconds)


def _program(wire: DispatchContext) -> str:
    return wire.environment.get(hosts.BROKER) or hosts.USUAL_BROKER


def _launch(request: Request, wire: DispatchContext) -> str | Answer:
    provider = request.means.provider
    assert provider is not None
    argv = [_program(wire), "launch", "--model", request.model]
    argv += ["--base-url", provider.base_url, "--api-key-env", provider.api_key_env]
    launched = command_line.run(request, wire, argv, LAUNCH_TIMEOUT)
    if launched.problem:
        return launched._replace(data=b"")
    if not _ID.fullmatch(launched.data):
        text = f"{argv[0]} launch did not print a job's id: "
        text += "expected one line of letters, digits, . _ -"
        return Answer(problem=Problem("transport-bad-response", text))
    job = launched.data.decode().strip()
    request.launched(job, "")
    return job


def _result(request: Request, seconds: float) -> Answer:
    folder, _, name = request.result_file.rpartition("/")
    data = DiskTree(folder).read(name, request.limit + 1)
    if isinstance(data, Fault):
        text = f"{request.result_file} was not left by the broker ({data.reason})"
        return Answer(seconds=seconds, problem=Problem("transport-bad-response", text))
    return Answer(data, seconds)
