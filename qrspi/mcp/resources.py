"""Runs, their rounds and their files, to be read by their addresses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import ListResourcesResult, Resource

from qrspi.cli.in_process import Commands, Unanswered
from qrspi.core.tree import Fault
from qrspi.mcp import addresses
from qrspi.mcp.tool_answers import encodable
from qrspi.world.files.run_tree import DiskTree

_JSON, _MARKDOWN, _TEXT = "application/json", "text/markdown", "text/plain"
_LIMIT = 8 * 1024 * 1024
P = ParamSpec("P")
T = TypeVar("T")


class RunResources:
    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def register(self, server: MCPServer[Any]) -> None:
        offered: tuple[tuple[str, Callable[..., str | bytes], str, str], ...] = (
            (addresses.RUNS, self.runs, "All runs: where each stands, and what is next.", _JSON),
            (addresses.FILE, self.file, "One file of a run, by its path in the run.", _TEXT),
            (addresses.ROUND, self.round, "What reviewers found in one round of a step.", _JSON),
            (addresses.RUN, self.run, "One run: its steps, and what is next.", _JSON),
        )
        for address, read, says, kind in offered:
            name = read.__name__
            server.resource(address, name=name, description=says, mime_type=kind)(_told(read))

    def runs(self) -> str:
        return self._asked("status", "--all")

    def run(self, run: str) -> str:
        return self._asked("status", "--", run)

    def round(self, run: str, step: str, round: str) -> str:
        return self._asked("show", f"--round={round}", "--", run, step)

    def file(self, run: str, path: str) -> str | bytes:
        (found,) = self._commands.ask("status", "--", run)["runs"]
        tree = DiskTree(f"{self._commands.session.root.runs_dir}/{found['run']}")
        data = tree.read(path, _LIMIT)
        if isinstance(data, Fault):
            says = "is not there" if data.kind == "absent" else f"cannot be read: {data.reason}"
            raise ResourceNotFoundError(f"{data.kind}: {path} of {run} {says}")
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def listed(self) -> ListResourcesResult:
        try:
            runs = self._commands.ask("status", "--all")["runs"]
        except Unanswered:  # no runs folder yet
            runs = []
        return ListResourcesResult(
            resources=[
                _resource(addresses.RUNS, "runs", "All runs", _JSON),
                *(one for run in runs for one in _of_run(run)),
            ]
        )

    def _asked(self, *words: str) -> str:
        return json.dumps(encodable(self._commands.ask(*words)))


def _of_run(run: dict[str, Any]) -> Iterator[Resource]:
    name = run["run"]
    yield _resource(addresses.of_run(name), name, run["next"]["summary"], _JSON)
    for step in run["steps"]:
        if step["status"] != "missing":
            path = step["artifact"]
            says = f"The text of {step['step']}: {step['status']}"
            yield _resource(addresses.of_file(name, path), f"{name}/{path}", says, _MARKDOWN)


def _resource(address: str, name: str, says: str, kind: str) -> Resource:
    known = {"uri": address, "name": name, "description": says, "mime_type": kind}
    return Resource(**encodable(known))


def _told(read: Callable[P, T]) -> Callable[P, T]:
    @wraps(read)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except Unanswered as unanswered:
            document = encodable(unanswered.answer.document)
            kind = ResourceNotFoundError if unanswered.answer.status < 4 else ResourceError
            raise kind(f"{document['code']}: {document['message']}") from None

    return told
