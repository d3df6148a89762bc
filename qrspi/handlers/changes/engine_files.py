"""Files with the engine's own names that have changed: every engine commit takes them along,
so that a fresh clone derives the same state."""

from __future__ import annotations

import re

from qrspi.core.config.reader import BACKFILLS
from qrspi.core.pipeline import MARKER
from qrspi.core.records.approvals import FILE as APPROVALS
from qrspi.core.steps.cascade_log import FILE as CASCADES
from qrspi.core.tree import Fault, Tree
from qrspi.world.git import commits
from qrspi.world.git.repository import Repo
from qrspi.world.runs.workspace import Workspace

_TOP = re.compile(r"cascade-clean-.+\.md|(?:approvals\.jsonl|cascade-audit\.log)\.torn-\d+")
_OWN = re.compile(
    r"(?:start|report|outcome|reopened|rerun|baseline|baseline-failures)\.md|baseline\.log"
    r"|.+-review\.md|round-\d{2,}(?:\.log|-results\.md|\.diff|-verified\.md|-scope-set\.txt"
    r"|-commit\.txt|-verifier-disabled\.md|-backward-loop\.flag|-ingested-.+\.txt)"
    r"|loop\.md|.+-loop-(?:pause|escape)-round-\d{2,}\.md"
)
_ALWAYS = (APPROVALS, CASCADES, MARKER, "closed.md")


def changed(workspace: Workspace, repo: Repo) -> tuple[str, ...]:
    """Names to give to git, which takes those that differ from HEAD."""
    config = ("config.md",) if _only_backfilled(workspace, repo) else ()
    return (*_ALWAYS, *_top(workspace), *_reviews(workspace, "reviews"), *config)


def _top(tree: Tree) -> list[str]:
    entries = tree.entries("")
    return [
        entry.name
        for entry in (() if isinstance(entries, Fault) else entries)
        if _TOP.fullmatch(entry.name)
    ]


def _reviews(tree: Tree, folder: str) -> list[str]:
    entries = tree.entries(folder)
    found: list[str] = []
    for entry in () if isinstance(entries, Fault) else entries:
        path = f"{folder}/{entry.name}"
        if entry.kind == "dir" and not entry.name.startswith("round-"):
            found += _reviews(tree, path)
        elif entry.kind == "file" and _OWN.fullmatch(entry.name):
            found.append(path)
    return found


def _only_backfilled(workspace: Workspace, repo: Repo) -> bool:
    """Whether config.md differs from HEAD by lines that the engine wrote back, and nothing else."""
    now, then = workspace.read("config.md"), commits.content(repo, "HEAD", "config.md")
    if isinstance(now, Fault) or then is None or now == then:
        return False
    added = {f"{field}: {value}".encode() for field, value in BACKFILLS.items()}
    old = then.split(b"\n")
    return [line for line in now.split(b"\n") if line in old or line.strip() not in added] == old
