"""What a finished run comes to, counted from its files and its commits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from qrspi.core.artifacts import task_file as tasks
from qrspi.core.model import Triaged
from qrspi.core.records import approvals
from qrspi.core.rounds.manifest import Manifest
from qrspi.core.tree import Fault, Tree
from qrspi.demo import narration as telling
from qrspi.demo.stage import Stage
from qrspi.world.git import scratch_repository as scratch


class Tally(NamedTuple):
    steps: int
    approved_by_a_person: int
    approved_by_cascade: int
    rounds: int
    narrow_rounds: int
    findings_kept: int  # the paused ones among them
    findings_dropped: int
    findings_paused: int
    tasks: int
    merges: int
    commits: int


def count(stage: Stage, steps: int) -> Tally:
    tree = stage.tree
    rounds = list(_manifests(tree, "reviews"))
    triaged = [item for one in rounds for item in _triaged(tree, one)]
    cascades = _lines(tree, "cascade-audit.log")
    people = sum(record.event == "approve" for record in approvals.read(tree.read(approvals.FILE)))
    history = scratch.history(stage.repository)
    return Tally(
        steps=steps,
        approved_by_a_person=people - cascades,
        approved_by_cascade=cascades,
        rounds=len(rounds),
        narrow_rounds=sum(one.choice.narrow for one in rounds),
        findings_kept=sum(item.verdict != "drop" for item in triaged),
        findings_dropped=sum(item.verdict == "drop" for item in triaged),
        findings_paused=sum(item.verdict == "pause" for item in triaged),
        tasks=len(tasks.keys(tree)),
        merges=history.merges,
        commits=history.commits,
    )


def _manifests(tree: Tree, folder: str) -> Iterator[Manifest]:
    entries = tree.entries(folder)
    for entry in () if isinstance(entries, Fault) else entries:
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and entry.name.startswith("round-"):
            yield telling.manifest(tree, f"{path}/.dispatch-manifest.json")
        elif entry.kind == "dir":
            yield from _manifests(tree, path)


def _triaged(tree: Tree, one: Manifest) -> tuple[Triaged, ...]:
    return telling.loop(tree, {"step": one.step, "round": one.round}).triaged


def _lines(tree: Tree, path: str) -> int:
    data = tree.read(path)
    return 0 if isinstance(data, Fault) else data.count(b"\n")
