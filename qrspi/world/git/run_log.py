"""What git's history says of one run: two questions, however long the history is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from qrspi.core.proof.run_history import Commit, RunHistory
from qrspi.world.git import command
from qrspi.world.git.refs import head
from qrspi.world.git.repository import Repo

_LOG = ("log", "-z", "--no-renames", "--name-only", "--encoding=UTF-8", "--no-color")
_FORMAT = "--format=%x00%H%x00%B%x00"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def of_run(repo: Repo) -> RunHistory:
    """`repo` is asked from the run's folder."""
    if head(repo) is None:
        return RunHistory()
    log = [*_LOG, "--no-ext-diff", "--no-textconv", _FORMAT, "HEAD", "--", "."]
    files = ["ls-tree", "-r", "-z", "--name-only", "HEAD", "."]
    said, listed = (os.fsdecode(one.out) for one in command.read_each(repo.path, [log, files]))
    prefix = "" if repo.from_root(".") == "." else f"{repo.from_root('.')}/"
    commits = tuple(_commits(said, prefix))
    return RunHistory(commits, frozenset(filter(None, listed.split("\0"))))


def _commits(said: str, prefix: str) -> Iterator[Commit]:
    """A commit begins with an empty part; no name of a file is empty."""
    parts = said.split("\0")
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
