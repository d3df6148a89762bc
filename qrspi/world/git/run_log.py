"""What git's history says of one run: a few questions, however long the history is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from qrspi.core.proof.run_history import Commit, Removed, RunHistory
from qrspi.core.records.vanished import LOGS
from qrspi.world.git import command, commits
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo

_LOG = ("log", "-z", "--no-renames", "--name-only", "--encoding=UTF-8", "--no-color")
_FORMAT = "--format=%x00%H%x00%B%x00"
# Each parent of a merge by itself, and no branch left out: a merge can drop what one side decided.
_CHANGES = (
    *("log", "--patch", "--unified=0", "--text", "--full-history", "--diff-merges=separate"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "--relative"),
    *("-O/dev/null", "--format=%x00%H", "HEAD", "--"),
)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def of_run(repo: Repo) -> RunHistory:
    """`repo` is asked from the run's folder."""
    if head(repo) is None:
        return RunHistory()
    log = [*_LOG, "--no-ext-diff", "--no-textconv", _FORMAT, "HEAD", "--", "."]
    files = ["ls-tree", "-r", "-z", "--name-only", "HEAD", "."]
    changes = [*_CHANGES, *command.literal(LOGS)]
    logged, listed, changed = command.read_each(repo.path, [log, files, changes])
    prefix = "" if repo.from_root(".") == "." else f"{repo.from_root('.')}/"
    present = frozenset(listed.items)
    return RunHistory(
        commits=tuple(_commits(os.fsdecode(logged.out), prefix)),
        present=present,
        logs=commits.contents(repo, "HEAD", [log for log in LOGS if log in present]),
        removed=tuple(_removed(changed.out)),
    )


def _removed(changes: bytes) -> Iterator[Removed]:
    """A line of a log begins with a brace, and no line of a diff but those of its files with a d,
    so nothing that is written into a log can be taken for another file."""
    sha = file = ""
    for line in changes.split(b"\n"):
        if line.startswith(b"\0"):
            sha = line[1:].decode("ascii", "replace")
        elif line.startswith(b"diff --git "):
            file = os.fsdecode(line.rpartition(b" ")[2])
        elif line.startswith(b"-{") and file in LOGS:
            yield Removed(sha, file, line[1:].rstrip(b"\r"))


def _commits(output: str, prefix: str) -> Iterator[Commit]:
    """A commit begins with an empty part; no name of a file is empty."""
    parts = output.split("\0")
    at = 0
    while at < len(parts):
        if parts[at] or at + 2 >= len(parts) or not _COMMIT.fullmatch(parts[at + 1]):
            at += 1
            continue
        end = next((one for one in range(at + 4, len(parts)) if not parts[one]), len(parts))
        names = (name.lstrip("\n") for name in parts[at + 4 : end])
        files = tuple(name.removeprefix(prefix) for name in names if name.startswith(prefix))
        yield Commit(parts[at + 1], parts[at + 2], files)
        at = end
