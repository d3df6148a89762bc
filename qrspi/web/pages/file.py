"""`/runs/RUN/files/PATH`: any text file of a run."""

from __future__ import annotations

from qrspi.cli.in_process import Commands
from qrspi.core.errors import Refusal
from qrspi.core.model import Problem
from qrspi.core.tree import Fault
from qrspi.web import markdown
from qrspi.web.pages.step import Shelf
from qrspi.web.templates import Page
from qrspi.world.files.run_tree import DiskTree

LIMIT = 2 * 1024 * 1024
_SAYS = {
    "not-a-file": "This is no plain file: folders and links are not followed.",
    "unreadable": "This file cannot be read.",
    "too-large": "This file is too large to be shown here.",
}


def page(commands: Commands, name: str, path: str) -> Page:
    run = commands.ask("status", name)["runs"][0]
    tree = DiskTree(f"{commands.session.root.runs_dir}/{name}")
    data = tree.read(path, LIMIT)
    if isinstance(data, Fault) and data.kind == "absent":
        raise Refusal(Problem("absent", f"{name} has no file {path}", file=path))
    context = {"run": run, "path": path, "shelf": None, "lines": (), "says": ""}
    if isinstance(data, Fault):
        context["says"] = f"{_SAYS[data.kind]} {data.detail}".strip()
    elif b"\0" in data[:8192]:
        context["says"] = f"This file is binary: {len(data)} bytes."
    elif path.endswith(".md"):
        text = data.decode("utf-8", "replace")
        context["shelf"] = Shelf(
            path, markdown.front_matter(text), markdown.blocks(text, name, path)
        )
    else:
        context["lines"] = data.decode("utf-8", "replace").splitlines()
    return Page("file.html", f"{path} · {name}", context, name)
