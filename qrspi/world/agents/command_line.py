"""An agent on the command line: the prompt on its stdin, the reply on its stdout, no shell."""

from __future__ import annotations

import os
from collections.abc import Mapping

from qrspi.core.fleet import broker_address
from qrspi.core.model import Problem
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.consent.permits import Permit
from qrspi.world.processes.children import Spoken

MODEL = "{model}"  # in an argument: the model the role was routed to

# A repository can contain hooks that its agent runs at every start. These arguments ignore the
# repository's settings and keep the user's; wrappers that users wrote see QRSPI_TRUSTED.
HOOKS_OFF: dict[str, tuple[str, ...]] = {
    "claude": ("--setting-sources", "user"),
    "codex": ("-c", "features.hooks=false"),
}

# A Claude Code that we run in sets the first two, and the one we start would refuse to start inside
# another. The broker's address contains a password, which agents must not see.
_NOT_INHERITED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", broker_address.VARIABLE)


def send(request: Request, wire: DispatchContext) -> Answer:
    command, permit = request.means.command, request.permit
    assert command is not None and permit is not None
    return run(request, wire, arguments(request, permit), command.timeout)


def arguments(request: Request, permit: Permit) -> list[str]:
    program, *words = permit.named.words
    rest = (word.replace(MODEL, request.model) for word in words)
    off = () if request.trusted else HOOKS_OFF.get(program.rpartition("/")[2], ())
    return [program, *off, *rest]


def run(request: Request, wire: DispatchContext, argv: list[str], timeout: float) -> Answer:
    try:
        spoken = wire.children.converse(
            argv,
            request.prompt,
            directory=request.directory,
            environment=environment(request, wire),
            timeout=timeout,
            limit=request.limit,
        )
    except OSError as error:
        return Answer(problem=_not_started(request, argv[0], error))
    return Answer(spoken.out, spoken.seconds, _problem(argv[0], spoken, timeout, request, wire))


def _not_started(request: Request, program: str, error: OSError) -> Problem:
    field = request.permit.named.field if request.permit else ""
    file = "config.md" if field.startswith("commands.") else ""
    text, expected = f"{program} cannot be started: {error.strerror}", "a program that is there"
    if not os.path.isdir(request.directory):
        text = f"{program} cannot be started in {request.directory}: that folder is not there"
        file, field, expected = "", "", "the folder that it works in"
    return Problem("transport-no-program", text, file, field, program, expected)


def environment(request: Request, wire: DispatchContext) -> Mapping[str, str]:
    own = {"QRSPI_MODEL": request.model, "QRSPI_TRUSTED": "1" if request.trusted else "0"}
    if request.hidden:
        own["QRSPI_APART"] = "1"
    elif request.run:
        # A work tree has a copy of the run; what an agent reports belongs to the run itself.
        own["QRSPI_ROOT"] = request.run
    inherited = {
        name: value for name, value in wire.environment.items() if name not in _NOT_INHERITED
    }
    if request.hidden:
        # PWD says where the user stands, which is often the run's folder, and a CI its branch.
        inherited = {
            name: value
            for name, value in inherited.items()
            if not any(word in value for word in request.hidden)
        }
    return inherited | own


def _problem(
    program: str, spoken: Spoken, timeout: float, request: Request, wire: DispatchContext
) -> Problem | None:
    match spoken.ending:
        case "timeout":
            return Problem("transport-timeout", f"{program} did not answer within {timeout:g} s")
        case "too-much":
            text = f"{program} printed more than {request.limit} bytes and was stopped"
            return Problem("transport-too-large", text)
        case "interrupted":
            return Problem("transport-interrupted", f"{program} was stopped with the command")
        case "exited":
            return _status(program, spoken, wire)


def _status(program: str, spoken: Spoken, wire: DispatchContext) -> Problem | None:
    if spoken.status == 0:
        return None
    by_signal = f"was ended by signal {-spoken.status}"
    how = f"exited {spoken.status}" if spoken.status > 0 else by_signal
    message = " ".join(spoken.tail.decode("utf-8", "replace").split())[-500:]
    text = wire.redacted(f"{program} {how}{f': {message}' if message else ''}")
    return Problem("transport-failed", text, found=str(spoken.status))
