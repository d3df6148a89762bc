"""`/runs/RUN/files/PATH`: any text file of a run."""

from __future__ import annotations

from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.web.answers import gates
from qrspi.web.html import Page
from qrspi.web.pages import step
from qrspi.web.parts.markdown import TextPlace
from qrspi.world.files.run_tree import DiskTree

_LIMIT = 2 * 1024 * 1024
_SAYS = {
    "not-a-file": "This is not a plain file: folders and links are not followed.",
    "unreadable": "This file cannot be read.",
    "too-large": "This file is too large to be shown here.",
}


def page(commands: Commands, name: str, path: str) -> Page:
    run = commands.ask("status", name)["runs"][0]
    tree = DiskTree(f"{commands.session.root.runs_dir}/{name}")
    data = tree.read(path, _LIMIT)
    if isinstance(data, Fault) and data.kind == "absent":
        raise Refusal(Problem("absent", f"{name} has no file {path}", file=path))
    context = {"run": run, "path": path, "shelf": None, "says": ""}
    context |= _shown(data, name, path)
    return Page("file.html", f"{path} · {name}", context, name, following=gates.following(run))


def _shown(data: bytes | Fault, run: str, path: str) -> dict[str, Any]:
    if isinstance(data, Fault):
        detail = f"It has {data.found}." if data.kind == "too-large" else data.detail
        return {"says": f"{_SAYS[data.kind]} {detail}".strip()}
    if b"\0" in data[:8192]:
        return {"says": f"This file is binary: {len(data)} bytes."}
    text = data.decode("utf-8", "replace")
    place = TextPlace(run, path)
    if path.endswith(".md"):
        return {"shelf": step.shelf(text, place, [])}
    return {"shelf": step.Shelf(path, place.prefix, lines=tuple(text.splitlines()))}
