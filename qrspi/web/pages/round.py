"""`/runs/RUN/STEP/rounds/N`: what reviewers found, and what became of it."""

from __future__ import annotations

from typing import Any

from qrspi.cli.in_process import Commands
from qrspi.core.filenames import RoundPaths
from qrspi.core.pipeline import subject_of
from qrspi.core.rounds import manifest as manifests
from qrspi.core.rounds import round_list
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault
from qrspi.web import diff_table, gates, markdown
from qrspi.web.templates import Page
from qrspi.world.files.run_tree import DiskTree

_DIFF_LIMIT = 2 * 1024 * 1024


def page(commands: Commands, name: str, step: str, number: int) -> Page:
    found = commands.ask("show", name, step, "--round", str(number))
    run = commands.ask("status", name)["runs"][0]
    tree = DiskTree(f"{commands.session.root.runs_dir}/{name}")
    about = subject_of(step)
    paths = RoundPaths(about.reviews, number)
    manifest = manifests.read(tree.read(paths.manifest, manifests.LIMIT), paths.manifest)
    numbers = round_list.rounds(tree, about)
    waits = run["next"]["step"] == step and run["next"]["round"] == number
    context = {
        "run": run,
        "step": step,
        "number": number,
        "numbers": numbers,
        "findings": [one for one in found["findings"] if one["lineage"] != "resolved"],
        "gone": [one for one in found["findings"] if one["lineage"] == "resolved"],
        "decisions": gates.decisions(run) if waits else {},
        "sent": manifest.dispatches if isinstance(manifest, Manifest) else (),
        "choice": manifest.choice if isinstance(manifest, Manifest) else None,
        "cost": _cost(commands, name, step, number),
        "diff": _diff(tree, paths.diff),
        "dispositions": _text(tree, paths.dispositions),
    }
    return Page("round.html", f"Round {number} of {step} · {name}", context, name)


def _cost(commands: Commands, run: str, step: str, number: int) -> list[dict[str, Any]]:
    answer = commands.run("spend", run)
    groups = [] if answer.status else answer.document["groups"]
    return [one for one in groups if (one["step"], one["round"]) == (step, number)]


def _diff(tree: DiskTree, path: str) -> tuple[diff_table.Row, ...]:
    data = tree.read(path, _DIFF_LIMIT)
    return () if isinstance(data, Fault) else diff_table.rows(data.decode("utf-8", "replace"))


def _text(tree: DiskTree, path: str) -> str:
    data = tree.read(path)
    if isinstance(data, Fault):
        return ""
    blocks = markdown.blocks(data.decode("utf-8", "replace"), tree.name, path)
    return "".join(block.html for block in blocks)
