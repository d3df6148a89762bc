"""Remove work trees in which nothing is lost. git itself refuses one with changes."""

from __future__ import annotations

import os

from qrspi.world.git import command
from qrspi.world.git.repository import Repo
from qrspi.world.git.worktrees import FOLDER


def remove(repo: Repo, path: str) -> None:
    """What git ignores goes with it: products of a build."""
    output = command.write(repo.path, ["worktree", "remove", "--", path])
    if output.status:
        raise command.failure("worktree remove", output)


def remove_empty_folders(repo: Repo, folder: str) -> None:
    """Those of the run's work trees, when nothing is in them any more."""
    top = f"{repo.root}/{FOLDER}"
    for path, _, _ in os.walk(f"{top}/{folder}", topdown=False):
        if not os.listdir(path):
            os.rmdir(path)
    if os.path.isdir(top) and not os.path.islink(top) and not os.listdir(top):
        os.rmdir(top)
