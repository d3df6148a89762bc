"""Answers from a folder instead of from a model, looked for as `<step>/round-NN/<name>`,
`<step>/<name>`, `<name>`, then with the first word of the name (`verify`, for every finding): `.md`
is plain text, `.json` what `claude -p --output-format json` prints, so that a demonstration can
have costs."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.agents.replies import Kind
from qrspi.core.filenames import round_name
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.world.agents.dispatch_context import DispatchContext
from qrspi.world.agents.request import Answer, Request
from qrspi.world.files.run_tree import DiskTree

KINDS: dict[str, Kind] = {".json": "claude-json", ".md": "text"}


def send(request: Request, wire: DispatchContext) -> Answer:
    path = found(request, wire.scripts)
    if path is None:
        first = next(_candidates(request))
        text = f"{wire.scripts} has no reply for {request.name}: expected {first}"
        return Answer(problem=Problem("transport-no-script", text, found=request.name))
    data = DiskTree(wire.scripts).read(path, request.limit + 1)
    if isinstance(data, Fault):
        text = f"{wire.scripts}/{path} cannot be read: {data.reason}"
        return Answer(problem=Problem("transport-no-script", text))
    return Answer(data)


def kind(request: Request, folder: str) -> Kind:
    path = found(request, folder)
    return KINDS[f".{path.rpartition('.')[2]}"] if path else "text"


def found(request: Request, folder: str) -> str | None:
    tree = DiskTree(folder)
    for path in _candidates(request):
        size = tree.size(path)
        if not (isinstance(size, Fault) and size.kind == "absent"):
            return path
    return None


def _candidates(request: Request) -> Iterator[str]:
    folders = [f"{request.step}/", ""]
    if request.round:
        folders.insert(0, f"{request.step}/{round_name(request.round)}/")
    for name in dict.fromkeys((request.name, request.name.partition("-")[0])):
        yield from (f"{folder}{name}{end}" for folder in folders for end in (".md", ".json"))
